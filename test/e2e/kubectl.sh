#!/bin/bash
# Real kubectl against the in-tree API server: one line PASS or FAIL per check.
#
#     [KUBECTL=path/to/kubectl] test/e2e/kubectl.sh path/to/test-apiserver
#
# Without kubectl it says SKIP and succeeds. Everything it writes lies in a folder of its
# own, HOME included, since kubectl caches what servers say about themselves.
set -u
cd "$(dirname "$0")/../.." || exit 2

server=${1:?usage: $0 path/to/test-apiserver}
if ! command -v "${KUBECTL:-kubectl}" >/dev/null; then
    echo "SKIP ${KUBECTL:-kubectl} is not installed"
    exit 0
fi

dir=$(mktemp -d) || exit 2
if [ -n "${KUBECTL:-}" ]; then
    mkdir "$dir/bin" && ln -s "$(realpath "$(command -v "$KUBECTL")")" "$dir/bin/kubectl"
    PATH=$dir/bin:$PATH
fi
export HOME=$dir/home KUBECONFIG=$dir/kubeconfig
mkdir -p "$HOME"
passed=0
failed=0
server_pid=

stop()
{
    [ -n "$server_pid" ] && kill "$server_pid" 2>/dev/null && wait "$server_pid" 2>/dev/null
    rm -rf "$dir"
}
trap stop EXIT

pass()
{
    passed=$((passed + 1))
    echo "PASS $1"
}

fail()
{
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/    /' "$dir/out" | head -40
}

# run NAME STATUS PATTERN COMMAND...: the command ends with that status (any: *) and what it
# prints matches the extended regular expression; "" means that it prints nothing.
run()
{
    local name=$1 status=$2 pattern=$3 got
    shift 3
    timeout 60 "$@" >"$dir/out" 2>&1 </dev/null
    got=$?
    if [ "$status" != "*" ] && [ "$got" -ne "$status" ]; then
        echo "(exit status $got instead of $status)" >>"$dir/out"
        fail "$name"
    elif [ -z "$pattern" ] && [ -s "$dir/out" ]; then
        echo "(nothing should be printed)" >>"$dir/out"
        fail "$name"
    elif [ -n "$pattern" ] && ! grep -Eqz -- "$pattern" "$dir/out"; then
        echo "(nothing matches: $pattern)" >>"$dir/out"
        fail "$name"
    else
        pass "$name"
    fi
}

ok()
{
    local name=$1 pattern=$2
    shift 2
    run "$name" 0 "$pattern" kubectl "$@"
}

refused()
{
    local name=$1 pattern=$2
    shift 2
    run "$name" 1 "$pattern" kubectl "$@"
}

# until_true NAME COMMAND...: polls for ten seconds.
until_true()
{
    local name=$1 tries=100
    shift
    while [ $tries -gt 0 ]; do
        "$@" >"$dir/out" 2>&1 && { pass "$name"; return; }
        tries=$((tries - 1))
        sleep 0.1
    done
    fail "$name"
}

# ---- the cluster ----

cat >"$dir/cluster.yaml" <<'YAML'
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels: {kubernetes.io/hostname: node-1, pool: a, node-role.kubernetes.io/worker: ""}
spec:
  taints: [{key: dedicated, value: x, effect: PreferNoSchedule}]
status:
  capacity: {cpu: "8000m", memory: 33554432Ki, pods: "110", kubernetes.io/mid-cpu: "10000"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110", kubernetes.io/mid-cpu: "10000"}
  conditions:
    - {type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: fine,
       lastHeartbeatTime: "2026-07-24T08:00:00Z", lastTransitionTime: "2026-07-24T08:00:00Z"}
    - {type: Ready, status: "True", reason: KubeletReady, message: ready,
       lastHeartbeatTime: "2026-07-24T08:00:00Z", lastTransitionTime: "2026-07-24T08:00:00Z"}
  addresses: [{type: InternalIP, address: 10.0.0.1}, {type: Hostname, address: node-1}]
  nodeInfo:
    {machineID: m, systemUUID: s, bootID: b, kernelVersion: 6.1.0, osImage: Debian GNU/Linux 12,
     containerRuntimeVersion: containerd://1.7, kubeletVersion: v1.32.0, kubeProxyVersion: "",
     operatingSystem: linux, architecture: amd64}
---
apiVersion: v1
kind: Node
metadata: {name: node-2, labels: {kubernetes.io/hostname: node-2, pool: b}}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "Unknown"}]
---
apiVersion: v1
kind: Node
metadata: {name: node-3, labels: {kubernetes.io/hostname: node-3, pool: b}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: node-1, namespace: kube-node-lease}
spec: {holderIdentity: node-1, leaseDurationSeconds: 40, renewTime: "2026-07-24T08:00:00.000000Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default, labels: {app: web}}
spec:
  nodeName: node-1
  containers: [{name: web, image: "nginx:1", resources: {requests: {cpu: 500m, memory: 1Gi, kubernetes.io/mid-cpu: "1000"},
    limits: {cpu: "1", memory: 2Gi, kubernetes.io/mid-cpu: "1000"}}}]
status: {phase: Running, containerStatuses: [{name: web, ready: true, restartCount: 0}]}
---
apiVersion: v1
kind: Event
metadata: {name: node-1.1, namespace: default}
involvedObject: {kind: Node, name: node-1, uid: node-1}
reason: Tested
message: an event of the old API
type: Normal
count: 1
firstTimestamp: "2026-07-24T08:00:00Z"
lastTimestamp: "2026-07-24T08:00:00Z"
---
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: node-1}
spec: {metricCollectPolicy: {aggregateDurationSeconds: 300, reportIntervalSeconds: 60,
  nodeMemoryCollectPolicy: usageWithoutPageCache}}
YAML

"$server" --crds crds --load "$dir/cluster.yaml" --write-kubeconfig "$KUBECONFIG" >"$dir/server.log" 2>&1 &
server_pid=$!
for _ in $(seq 100); do
    [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && break
    sleep 0.1
done
if ! kubectl get --raw /readyz >/dev/null 2>&1; then
    echo "FAIL the server does not answer"
    sed 's/^/    /' "$dir/server.log"
    exit 1
fi

# ---- discovery ----

ok "version" "Server Version: v1\.32" version
ok "api-resources" "nodemetrics +slo.koordinator.sh/v1alpha1 +false +NodeMetric" api-resources
ok "api-versions" "coordination.k8s.io/v1" api-versions
ok "explain a custom resource" "nodeMemoryCollectPolicy" explain nodemetric.spec.metricCollectPolicy
ok "explain a built-in kind" "KIND: +Node" explain node
ok "auth can-i" "yes" auth can-i get nodes

# ---- get ----

ok "get nodes" "node-1 +Ready +worker +.*v1\.32\.0.*node-2 +NotReady.*node-3 +Unknown" get nodes
ok "get nodes -o wide" "node-1 .* 10\.0\.0\.1 .*Debian GNU/Linux 12" get nodes -o wide
ok "get node -o json" '"kubernetes.io/mid-cpu": "10k"' get node node-1 -o json
ok "get node -o yaml shows canonical quantities" "memory: 32Gi" get node node-1 -o yaml
ok "get nodes -o jsonpath" "^node-1 node-2 node-3$" get nodes -o 'jsonpath={.items[*].metadata.name}'
ok "get nodes -o name" "node/node-2" get nodes -o name
ok "get nodes -o custom-columns" "node-1 +10k" get nodes -o 'custom-columns=N:.metadata.name,M:.status.allocatable.kubernetes\.io/mid-cpu'
ok "get with a label selector" "^node/node-2.node/node-3.$" get nodes -l 'pool in (b,c)' -o name
ok "get with a field selector" "^node/node-3.$" get nodes --field-selector metadata.name=node-3 -o name
ok "get in pages" "node-1.*node-2.*node-3" get nodes --chunk-size=1
ok "get sorted" "node-3.*node-2.*node-1" get nodes --sort-by '{.metadata.creationTimestamp}' --sort-by '{.status.capacity.cpu}'
ok "get several kinds" "node/node-1.*pod/web-0" get nodes,pods
ok "get all" "pod/web-0" get all -A
ok "get pods" "web-0 +1/1 +Running +0" get pods -o wide
ok "get nodemetrics" "NAME +REPORTED +RECLAIMABLE-CPU +RECLAIMABLE-MEM +AGE.*node-1" get nodemetrics
ok "get nodemetric -o json" '"nodeMemoryCollectPolicy": "usageWithoutPageCache"' get nodemetric node-1 -o json
ok "get leases" "node-1 +node-1" get leases -n kube-node-lease
ok "get crd" "nodemetrics.slo.koordinator.sh" get crd
ok "get --raw" "^ok$" get --raw /healthz
refused "get what is not there" 'nodes "nope" not found' get node nope
refused "get an unknown kind" "doesn't have a resource type" get frobs
ok "get what is not there, ignored" "" get node nope --ignore-not-found

# ---- describe ----

ok "describe node: capacity and lease" "Capacity:.*kubernetes.io/mid-cpu: +10k.*HolderIdentity: +node-1|HolderIdentity: +node-1.*Capacity:.*kubernetes.io/mid-cpu: +10k" describe node node-1
ok "describe node: pods" "Non-terminated Pods:.*default +web-0 +500m" describe node node-1
ok "describe node: mid resources of pods" "kubernetes.io/mid-cpu +1k" describe node node-1
ok "describe pod" "Name: +web-0" describe pod web-0
ok "describe nodemetric" "Report Interval Seconds: +60" describe nodemetric node-1
ok "describe namespace" "Status: +Active" describe namespace default

# ---- create ----

ok "create configmap (protobuf)" "configmap/made created" create configmap made --from-literal=a=1 --from-literal=b=two
ok "its data" '"two"' get configmap made -o 'jsonpath={.data}'
ok "describe configmap" "a:.*----.*1" describe configmap made
refused "create it again" 'configmaps "made" already exists' create configmap made
ok "create secret (protobuf)" "secret/made created" create secret generic made --from-literal=p=word
ok "its data is base64" "^d29yZA==$" get secret made -o 'jsonpath={.data.p}'
ok "create namespace" "namespace/koordinator-system created" create namespace koordinator-system
ok "create serviceaccount" "serviceaccount/robot created" create serviceaccount robot
ok "create clusterrole (protobuf)" "reader created" create clusterrole reader --verb=get,list --resource=nodes
ok "create clusterrolebinding (protobuf)" "reader created" create clusterrolebinding reader --clusterrole=reader --serviceaccount=default:robot
cat >"$dir/generated.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {generateName: gen-}
YAML
ok "create with generateName" "configmap/gen-[a-z0-9]{5} created" create -f "$dir/generated.yaml"
ok "create --dry-run=server" "configmap/dry created \(server dry run\)" create configmap dry --dry-run=server
refused "it was not stored" "not found" get configmap dry

# ---- apply ----

cat >"$dir/config.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata:
  name: slo-controller-config
  namespace: koordinator-system
  labels: {tier: config}
data:
  colocation-config: |
    {"enable": true}
  other: x
YAML
ok "apply creates" "slo-controller-config created" apply -f "$dir/config.yaml"
ok "apply again changes nothing" "slo-controller-config unchanged" apply -f "$dir/config.yaml"
sed -e 's/true/false/' -e '/other/d' "$dir/config.yaml" >"$dir/config2.yaml"
run "diff shows the change" 1 '^.*-.*"enable": true.*\+.*"enable": false' kubectl diff -f "$dir/config2.yaml"
ok "apply changes" "slo-controller-config configured" apply -f "$dir/config2.yaml"
ok "and removes what left the file" '^\{"colocation-config":"\{\\"enable\\": false\}\\n"\}$' get cm -n koordinator-system slo-controller-config -o 'jsonpath={.data}'
ok "diff is empty now" "" diff -f "$dir/config2.yaml"
ok "apply --dry-run=server" "configured \(server dry run\)" apply --dry-run=server -f "$dir/config.yaml"
ok "apply --dry-run=client" "\(dry run\)" apply --dry-run=client -f "$dir/config.yaml"
cat >"$dir/metric.yaml" <<'YAML'
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: node-2}
spec:
  metricCollectPolicy: {aggregateDurationSeconds: 300, nodeMemoryCollectPolicy: usageWithPageCache}
  predictPolicy: {resourceDiffThresholdPercent: 5}
YAML
ok "apply a custom resource" "nodemetric.slo.koordinator.sh/node-2 created" apply -f "$dir/metric.yaml"
ok "predictPolicy is kept" "^5$" get nodemetric node-2 -o 'jsonpath={.spec.predictPolicy.resourceDiffThresholdPercent}'
sed 's/: 300/: 200/' "$dir/metric.yaml" >"$dir/metric2.yaml"
ok "apply a change of it" "node-2 configured" apply -f "$dir/metric2.yaml"
ok "generation counts" "^2$" get nodemetric node-2 -o 'jsonpath={.metadata.generation}'
sed 's/usageWithPageCache/usageOfNothing/' "$dir/metric.yaml" >"$dir/metric3.yaml"
refused "apply a value outside the enum" 'nodeMemoryCollectPolicy: Unsupported value: "usageOfNothing": supported values: "usageWithHotPageCache"' apply -f "$dir/metric3.yaml"
sed 's/predictPolicy/predictPolice/' "$dir/metric.yaml" >"$dir/metric4.yaml"
refused "apply an unknown field" 'strict decoding error: unknown field "spec.predictPolice"' apply -f "$dir/metric4.yaml"
ok "apply an unknown field, warned" 'Warning: unknown field "spec.predictPolice"' apply --validate=warn -f "$dir/metric4.yaml"
cat >"$dir/deploy.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1", ports: [{containerPort: 80}]}]
YAML
ok "apply a deployment" "deployment.apps/web created" apply -f "$dir/deploy.yaml"
sed -i 's/nginx:1/nginx:2/' "$dir/deploy.yaml"
ok "apply a change in a list" "deployment.apps/web configured" apply -f "$dir/deploy.yaml"
ok "set image" "image updated" set image deployment/web web=nginx:3
ok "get deployment" "web +0/2" get deployment web

cat >"$dir/list.yaml" <<'YAML'
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed-1, namespace: default}, data: {a: b}}
- {apiVersion: slo.koordinator.sh/v1alpha1, kind: NodeMetric, metadata: {name: listed-2},
   spec: {metricCollectPolicy: {reportIntervalSeconds: 60}}}
YAML
ok "create a List" "configmap/listed-1 created.nodemetric.slo.koordinator.sh/listed-2 created" create -f "$dir/list.yaml"
ok "delete a List" 'configmap "listed-1" deleted.nodemetric.slo.koordinator.sh "listed-2" deleted' delete -f "$dir/list.yaml"
ok "apply a List" "configmap/listed-1 created.nodemetric.slo.koordinator.sh/listed-2 created" apply -f "$dir/list.yaml"
ok "apply it again" "configmap/listed-1 unchanged.nodemetric.slo.koordinator.sh/listed-2 unchanged" apply -f "$dir/list.yaml"

# ---- server-side apply ----

cat >"$dir/ssa.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: ssa, namespace: default}
data: {a: "1", b: "1"}
YAML
sed 's/a: "1"/a: "2"/' "$dir/ssa.yaml" >"$dir/ssa2.yaml"
sed 's/a: "1", //' "$dir/ssa.yaml" >"$dir/ssa3.yaml"
ok "server-side apply" "configmap/ssa serverside-applied" apply --server-side --field-manager=one -f "$dir/ssa.yaml"
refused "another manager conflicts" 'conflict with "one".*\.data\.a' apply --server-side --field-manager=two -f "$dir/ssa2.yaml"
ok "unless it forces" "serverside-applied" apply --server-side --field-manager=two --force-conflicts -f "$dir/ssa2.yaml"
ok "the first gives up a field the second owns" "serverside-applied" apply --server-side --field-manager=one -f "$dir/ssa3.yaml"
ok "so it stays" '^\{"a":"2","b":"1"\}$' get cm ssa -o 'jsonpath={.data}'
ok "the owners can be read" "manager: two" get cm ssa -o yaml --show-managed-fields
ok "server-side apply after client-side apply" "serverside-applied" apply --server-side --force-conflicts -f "$dir/config2.yaml"

# ---- edit, patch, replace ----

KUBE_EDITOR="sed -i s/two/three/" ok "edit a configmap" "configmap/made edited" edit configmap made
ok "the edit is there" "^three$" get cm made -o 'jsonpath={.data.b}'
KUBE_EDITOR="sed -i s/PreferNoSchedule/NoSchedule/" ok "edit a node" "node/node-1 edited" edit node node-1
KUBE_EDITOR="sed -i s/reportIntervalSeconds:.60/reportIntervalSeconds:\ 30/" ok "edit a custom resource" "node-1 edited" edit nodemetric node-1
KUBE_EDITOR=true ok "edit without a change" "Edit cancelled" edit configmap made
ok "strategic patch merges taints" "node/node-1 patched" patch node node-1 -p '{"spec":{"taints":[{"key":"more","effect":"NoSchedule"}]}}'
ok "both taints are there" "dedicated" get node node-1 -o 'jsonpath={.spec.taints[*].key}'
ok "merge patch" "node/node-1 patched" patch node node-1 --type=merge -p '{"metadata":{"labels":{"x":"y"}}}'
ok "json patch" "node/node-1 patched" patch node node-1 --type=json -p '[{"op":"replace","path":"/metadata/labels/x","value":"z"}]'
refused "a failed test in a json patch" "testing path|the server rejected our request" patch node node-1 --type=json -p '[{"op":"test","path":"/metadata/labels/x","value":"nope"}]'
ok "patch without a change" "patched \(no change\)" patch node node-1 --type=merge -p '{"metadata":{"labels":{"x":"z"}}}'
ok "patch status" "node/node-1 patched" patch node node-1 --subresource=status --type=merge -p '{"status":{"allocatable":{"kubernetes.io/mid-cpu":"20000"}}}'
ok "it is canonical" "^20k$" get node node-1 -o 'jsonpath={.status.allocatable.kubernetes\.io/mid-cpu}'
refused "a negative mid resource" 'status.allocatable.kubernetes.io/mid-cpu: Invalid value: "-1": must be greater than or equal to 0' patch node node-1 --subresource=status --type=merge -p '{"status":{"allocatable":{"kubernetes.io/mid-cpu":"-1"}}}'
ok "status is ignored on the main endpoint" "patched \(no change\)" patch node node-1 --type=merge -p '{"status":{"phase":"x"}}'
ok "merge patch of a custom resource's status" "node-1 patched" patch nodemetric node-1 --subresource=status --type=merge -p '{"status":{"updateTime":"2026-07-24T08:00:00Z","prodReclaimableMetric":{"resource":{"resources":{"cpu":"8","memory":"30Gi"}}}}}'
ok "its columns" "node-1 +[0-9a-z]+|<invalid> +8 +30Gi" get nodemetric node-1
refused "strategic patch of a custom resource" "unknown format|UnsupportedMediaType" patch nodemetric node-1 --type=strategic -p '{"spec":{}}'
ok "replace" "configmap/ssa replaced" replace -f "$dir/ssa.yaml"
ok "replace --force" "configmap/ssa replaced" replace --force -f "$dir/ssa.yaml"

# ---- label, annotate, taint, cordon ----

ok "label" "node/node-2 labeled" label node node-2 tier=gold
refused "label again" "already has a value" label node node-2 tier=silver
ok "label --overwrite" "node/node-2 labeled" label node node-2 tier=silver --overwrite
ok "label removed" "node/node-2 unlabeled" label node node-2 tier-
refused "a bad label" "Invalid value|invalid" label node node-2 'tier=no good'
ok "annotate" "node/node-2 annotated" annotate node node-2 note='some text'
ok "taint" "node/node-2 tainted" taint node node-2 k=v:NoExecute
ok "untaint" "node/node-2 untainted" taint node node-2 k=v:NoExecute-
ok "cordon" "node/node-2 cordoned" cordon node-2
ok "get shows it" "NotReady,SchedulingDisabled" get node node-2
ok "uncordon" "node/node-2 uncordoned" uncordon node-2

# ---- events ----

cat >"$dir/event.yaml" <<'YAML'
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: node-1.2, namespace: default}
regarding: {kind: Node, name: node-1, apiVersion: v1}
reason: Tested
action: Test
note: an event of the new API
type: Warning
eventTime: "2026-07-24T08:00:00.000000Z"
reportingController: koordinator.sh/test
reportingInstance: test-1
YAML
ok "create an event of the new API" "node-1.2 created" create -f "$dir/event.yaml"
ok "get events shows both" "an event of the (old|new) API.*an event of the (old|new) API" get events
ok "the new API shows the old event" '"note":"an event of the old API"' get --raw /apis/events.k8s.io/v1/namespaces/default/events/node-1.1
ok "kubectl events" "Warning +Tested +Node/node-1" events
sed -e 's/default/kube-public/' -e 's/node-1\.2/node-1.3/' "$dir/event.yaml" >"$dir/event2.yaml"
refused "an event in the wrong namespace" "does not match event.namespace" create -f "$dir/event2.yaml"
sed -e 's/\.000000Z/Z/' -e 's/node-1\.2/node-1.3/' "$dir/event.yaml" >"$dir/event3.yaml"
refused "an eventTime without six digits" "cannot be handled as a Event" create --validate=false -f "$dir/event3.yaml"

# ---- watch and wait ----

# One more change of node-3, then a look at what the watch has printed. Changes may come
# before the watch has begun, so one is not enough.
turn_and_look()
{
    turn=$((turn + 1))
    kubectl annotate node node-3 "turn=$turn" --overwrite >/dev/null && grep -Eqz -- "$1" "$dir/watch"
}

watch_sees()
{
    local name=$1 pattern=$2
    shift 2
    : >"$dir/watch"
    kubectl get "$@" >"$dir/watch" 2>&1 &
    local pid=$!
    until_true "$name" turn_and_look "$pattern"
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
}
turn=0
watch_sees "watch" "node-3 .*node-3 " nodes -w
watch_sees "watch -o json" '"turn".*"turn".*"turn"' node node-3 -w -o json
watch_sees "watch with events" "MODIFIED +node-3" nodes -w --output-watch-events
ok "wait for a condition" "node/node-1 condition met" wait --for=condition=Ready node/node-1 --timeout=10s
ok "wait for a value" "node/node-1 condition met" wait --for=jsonpath='{.metadata.name}'=node-1 node/node-1 --timeout=10s
ok "wait for a CRD" "condition met" wait --for=condition=Established crd/nodemetrics.slo.koordinator.sh --timeout=10s
refused "wait in vain" "timed out waiting" wait --for=condition=Ready node/node-3 --timeout=1s

# ---- delete ----

ok "delete" 'configmap "made" deleted' delete configmap made
refused "delete it again" "not found" delete configmap made
ok "delete by selector" 'slo-controller-config" deleted' delete configmap -n koordinator-system -l tier=config
ok "delete --all" '"ssa" deleted' delete configmap --all
ok "delete from a file" "node-2.* deleted" delete -f "$dir/metric.yaml"
ok "delete --ignore-not-found" "" delete node nope --ignore-not-found
refused "a running pod stays until its kubelet lets it go" "timed out" delete pod web-0 --timeout=1s
ok "it is terminating" "web-0 +1/1 +Terminating" get pods
ok "delete it without grace" '"web-0" force deleted' delete pod web-0 --grace-period=0 --force
ok "delete a namespace" 'koordinator-system" deleted' delete namespace koordinator-system --timeout=20s
ok "delete a node" 'node "node-3" deleted' delete node node-3
ok "wait for a deletion" "" wait --for=delete node/node-3 --timeout=10s

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
