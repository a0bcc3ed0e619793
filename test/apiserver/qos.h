#pragma once
/* The quality of service class that a Pod's cpu and memory put it into. Pure. */
#include "json/json.h"

/* "Guaranteed", "Burstable" or "BestEffort". */
struct str api_pod_qos(const struct json *spec);
