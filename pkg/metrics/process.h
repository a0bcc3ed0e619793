#pragma once
/* Figures about this process and this build, refreshed at every scrape. */
#include "metrics/metrics.h"

/* Adds process_* and koord_build_info. Once per registry. */
void metrics_process_register(struct metric_registry *registry);
