#pragma once

/* From here on a crash leaves no core: memory holds tokens and keys. The soft limit alone
 * is lowered, so whoever needs one core can raise it for a running process
 * (prlimit --core=unlimited --pid N). */
void core_dump_off(void);
