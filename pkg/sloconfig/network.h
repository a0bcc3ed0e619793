#pragma once
/* Network requests of resource-qos-config against each other and against the bandwidth of
 * system-config: what no table can say about one value. */
#include "sloconfig/slo.h"

/* `config` is of SLO_QOS; `system` the text of system-config beside it, empty for none.
 * Findings of FINDING_ADMISSION: requests of different kinds in one strategy, percents that
 * add up to more than 100, quantities that add up to more than the bandwidth, where one is
 * given: for the cluster, or by the system-config entry with the same selector. Entries are
 * judged as they come into effect, when they say anything of networks. */
void network_check(const struct slo_config *config, struct str system, struct findings *findings);
