#include "kube/core_dump.h"

#include <sys/prctl.h>
#include <sys/resource.h>

void core_dump_off(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        return;
    /* 0 only stops files: a handler that the kernel pipes cores to gets them all the same.
     * 1 is too little for a file, and the kernel's word for "no handler either". */
    limit.rlim_cur = 1;
    if (limit.rlim_max >= 1 && setrlimit(RLIMIT_CORE, &limit) == 0)
        return;
    /* Costs the look into our own /proc/self/fd unless root, hence second choice. */
    prctl(PR_SET_DUMPABLE, 0);
}
