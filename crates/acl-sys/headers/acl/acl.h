/* Everything that a program usually includes: the runtime and the models. The pool of CANN itself is in
 * acl_rt_memory_soma.h, which has to be included by name. */
#ifndef ASCEND_MEMPOOL_ACL_H
#define ASCEND_MEMPOOL_ACL_H

#include "acl_mdl.h"
#include "acl_rt.h"

#endif
