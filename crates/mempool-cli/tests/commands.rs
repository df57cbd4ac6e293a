//! `mempool demo`, `mempool config`, help and logging as their users see them.

#[cfg(test)]
mod commands {
    use assert_cmd::Command;
    use predicates::prelude::*;
    use predicates::str::contains;

    fn mempool(arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("mempool").unwrap();
        command.env_clear().args(arguments);
        command
    }

    #[test]
    fn help_has_examples_for_every_command() {
        for (arguments, text) in [
            (&["--help"][..], "ASCEND_GLOBAL_LOG_LEVEL"),
            (&["replay", "--help"], "mempool replay --policy both --compare"),
            (&["demo", "--help"], "mempool demo --policy first-fit"),
            (&["config", "--help"], "ASCEND_MEMPOOL_POLICY=FIRST_FIT mempool config"),
        ] {
            mempool(arguments).assert().success().stdout(contains(text)).stderr("");
        }
        mempool(&["--version"]).assert().success().stdout(contains(env!("CARGO_PKG_VERSION")));
        mempool(&[]).assert().code(2).stderr(contains("Usage: mempool"));
        mempool(&["nonsense"]).assert().code(2).stderr(contains("nonsense"));
    }

    #[test]
    fn the_demo_finds_no_overlap_and_no_leak() {
        for policy in ["best-fit", "first-fit"] {
            mempool(&["demo", "--policy", policy])
                .assert()
                .success()
                .stdout(contains(format!("one pool, {policy}")))
                .stdout(contains("before: nothing is loaded").and(contains("at peak: event")))
                .stdout(contains("after: all models are unloaded"))
                .stdout(contains("8,332 written").and(contains("8,332 intact")))
                .stdout(contains("leaks    pool: 0 blocks, 0 B; card: 0 ranges"))
                .stdout(contains("a caching allocator like torch's").and(contains("952 MiB")))
                .stdout(predicate::str::ends_with(
                    "verdict: good: no block overlaps another, none was overwritten, no leak, no failed allocation\n",
                ))
                .stderr("");
        }
    }

    #[test]
    fn the_demo_on_a_card_too_small_says_what_failed() {
        mempool(&["demo", "--capacity", "512MiB"])
            .assert()
            .code(1)
            .stdout(contains("FAILED:").and(contains("the device has not enough left")))
            .stdout(contains("card: 0 ranges").and(contains("verdict: BAD: the card is too small")));
    }

    #[test]
    fn a_limit_from_the_environment_counts_in_the_demo() {
        mempool(&["demo"])
            .env("ASCEND_MEMORY_POOL_MAX_SIZE", "512MiB")
            .assert()
            .code(1)
            .stdout(contains("the limit of the pool is reached").and(contains("limit 512 MiB")));
    }

    #[test]
    fn config_says_where_each_value_comes_from() {
        mempool(&["config", "--arena-size", "64MiB", "--initial-size", "0"])
            .env("ASCEND_MEMORY_POOL_MAX_SIZE", "8GiB")
            .env("ASCEND_MEMPOOL_POLICY", "")
            .assert()
            .success()
            .stdout(contains("policy        best-fit  default"))
            .stdout(contains("max_size      8 GiB     environment variable ASCEND_MEMORY_POOL_MAX_SIZE"))
            .stdout(contains("initial_size  0 B       argument --initial-size"))
            .stdout(contains("arena_size    64 MiB    argument --arena-size"))
            .stdout(contains("\"8GiB\""))
            .stderr("");
    }

    #[test]
    fn config_lists_every_variable_and_flags_those_without_effect() {
        let mut run = mempool(&["config"]).env("ASCEND_MEMPOOL_TRACE", "ON").assert().success();
        for variable in mempool_core::environment::VARIABLES {
            run = run.stdout(contains(variable.name).and(contains(variable.allowed)));
        }
        run.stdout(contains("\"ON\", WITHOUT EFFECT").count(1)).stdout(contains("ASCEND_GLOBAL_LOG_LEVEL"));
    }

    #[test]
    fn config_refuses_wrong_values_with_what_is_allowed() {
        mempool(&["config"]).env("ASCEND_MEMORY_POOL_MAX_SIZE", "lots").assert().code(2).stdout("").stderr(
            contains("error: environment variable ASCEND_MEMORY_POOL_MAX_SIZE is \"lots\"")
                .and(contains("allowed")),
        );
        mempool(&["config", "--max-size", "1MiB", "--initial-size", "2MiB"])
            .assert()
            .code(2)
            .stderr(contains("initial_size is 2 MiB, more than max_size, 1 MiB"));
    }

    #[test]
    fn the_log_level_is_that_of_cann() {
        mempool(&["demo"])
            .env("ASCEND_GLOBAL_LOG_LEVEL", "0")
            .assert()
            .success()
            .stderr(contains("took an arena").and(contains("\u{1b}").not()));
        mempool(&["config"])
            .env("ASCEND_GLOBAL_LOG_LEVEL", "debug")
            .assert()
            .code(2)
            .stderr(contains("ASCEND_GLOBAL_LOG_LEVEL is \"debug\"").and(contains("3 error (default)")));
        mempool(&["demo", "--help"]).env("ASCEND_GLOBAL_LOG_LEVEL", "debug").assert().success();
    }
}
