#pragma once
/* The control endpoint, for tests and demos in other processes:
 *
 *     POST   /-/control/faults         add a fault (see faults.h); {"id":1}
 *     GET    /-/control/faults         what is scripted, with counts
 *     DELETE /-/control/faults[?id=1]  forget all, or one
 *     POST   /-/control/compact        forget old versions: 410
 *     POST   /-/control/cut-watches    drop every watch connection
 *     POST   /-/control/end-watches    end every watch properly
 *     POST   /-/control/bookmark       one to every watch that asked
 *     POST   /-/control/pause, resume  answer nothing meanwhile
 *     GET    /-/control/requests[?since=ID]  what was asked, JSON lines
 *     DELETE /-/control/requests
 *     GET    /-/control/state          {"resourceVersion","watches","requests","paused"}
 */
#include "test/apiserver/request.h"

#define AS_CONTROL_PREFIX "/-/control/"

/* Answers the request. */
void as_control(struct as_request *request);
