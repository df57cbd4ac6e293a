/* `version V`: which calls the version has. */
#include "check.h"

int main(int count, char **arguments) {
    CHECK(count == 2);
    int is_9_2 = strcmp(arguments[1], "9.2") == 0;
    start();
    aclrtEvent event = NULL;
    OK(aclrtCreateEvent(&event));
    CODE(is_9_2 ? 0 : 207000, aclrtRecordEventWithFlag(event, NULL, 0));
    int32_t number = 0;
    char package[] = "runtime";
    OK(aclsysGetVersionNum(package, &number));
    CHECK(number == (is_9_2 ? 90200000 : 90100000));
    finish();
    return 0;
}
