# shellcheck shell=bash
# The chart's rights against what the programs really ask for: nothing is refused, and
# nothing is allowed that nobody needs.

asked_for() { # METHOD PATH-PATTERN: the manager has
    jq --arg user "$account" --arg method "$1" --arg path "$2" \
        'select(.user == $user and .method == $method and (.path | test($path)) and .code > 0 and .code != 403)' \
        "$dir/requests.log" >"$dir/asked" 2>/dev/null
    [ -s "$dir/asked" ]
}

asks() { # NAME METHOD PATH-PATTERN: sooner or later
    comes "$1" 30 asked_for "$2" "$3"
}

annotate() { # NODE
    kube annotate node "$1" --overwrite node.koordinator.sh/colocation-strategy='{"enable":' >/dev/null
}

control() { # METHOD PATH [JSON]
    curl -sf --cacert "$dir/tls.crt" -H 'Authorization: Bearer admin-token' -X "$1" "$server/-/control/$2" ${3:+-d "$3"}
}

# Everything the manager does, each by what makes it.
exercise() { # LINE
    local events=/apis/events.k8s.io/v1/namespaces core=/api/v1/namespaces
    local upstream=test/testdata/crds-upstream/slo.koordinator.sh_nodemetrics.yaml
    kube create -f - >/dev/null <<'EOF'
{"apiVersion": "topology.node.k8s.io/v1alpha1", "kind": "NodeResourceTopology", "metadata": {"name": "chart-1"},
 "zones": [{"name": "node-0", "type": "Node", "resources": [
    {"name": "cpu", "capacity": "16", "allocatable": "16", "available": "16"}]}]}
EOF
    set_policy '{"enable": true}' >/dev/null
    asks "a policy creates NodeMetrics" POST '/nodemetrics$'
    asks "and NodeSLOs" POST '/nodeslos$'
    comes "every node has one" 30 nodemetrics_are 3
    report chart-1 >/dev/null
    asks "a report changes its node's status" PATCH '/nodes/chart-1/status$'
    asks "and its annotations" PATCH '/nodes/chart-1$'
    asks "and the zones of its topology" PATCH '/noderesourcetopologies/chart-1$'
    kube apply --server-side --force-conflicts -f "$upstream" >/dev/null 2>&1
    set_policy '{"enable": true, "nodePredictPolicy": {"coldStartPeriodSeconds": 60}}' >/dev/null
    asks "a policy changes NodeMetrics" PATCH '/nodemetrics/'
    asks "a NodeMetric without predictPolicy makes it look at the CRD" GET '/customresourcedefinitions/'
    set_policy '{"enable": "a"}' >/dev/null
    asks "a broken policy makes an Event" POST "$events/kube-system/events"
    annotate chart-1
    asks "a broken annotation makes an Event" POST "$events/default/events"
    control POST faults '{"path": "^/apis/events.k8s.io/", "code": 404, "count": -1}' >/dev/null
    set_policy '{"enable": "b"}' >/dev/null
    asks "an Event goes to the core group where there is no other" POST "$core/kube-system/events"
    annotate chart-2
    asks "and that about a Node" POST "$core/default/events"
    control DELETE faults >/dev/null
    set_policy '{"enable": true}' >/dev/null
    kube delete node chart-3 >/dev/null
    asks "a Node that is gone is looked for once more" GET '/nodes/chart-3$'
    asks "then its NodeMetric goes too" DELETE '/nodemetrics/chart-3$'
    asks "and its NodeSLO" DELETE '/nodeslos/chart-3$'
    kube patch configmap slo-controller-config -n kube-system --type=merge -p '{"data":
        {"resource-threshold-config": "{\"clusterStrategy\": {\"enable\": true}}"}}' >/dev/null
    asks "another key changes NodeSLOs" PATCH '/nodeslos/'
    kube delete lease koordinator-manager -n kube-system >/dev/null
    asks "a Lease that is gone is made again" POST '/leases$'
    ok "helm test reads the policy" release "$1" test --timeout 30s
}

stage_rbac() {
    local line=${lines[0]}
    if [ -n "${KOORD_TEST_KUBECONFIG:-}" ]; then
        skip "rights" "they are compared with the in-tree server's log"
        return
    fi
    start_cluster || return
    ok "helm $line install" install "$line"
    exercise "$line"
    kube get clusterroles,roles -A -l app.kubernetes.io/instance=koord-manager -o json >"$dir/roles.json"
    jq -c --arg user "$account" 'select(.user == $user)' "$dir/requests.log" >"$dir/asked.log"
    same "nothing is refused" "" "$(jq -r 'select(.code == 403) | "\(.method) \(.path)"' "$dir/asked.log" | sort -u)"
    jq --slurpfile requests "$dir/asked.log" -f "$here/rights.jq" "$dir/roles.json" >"$dir/rights.json"
    same "the roles allow all that is asked" "" "$(jq -r '.missing[]' "$dir/rights.json")"
    same "the roles allow nothing that is not asked" "" "$(jq -r '.unused[]' "$dir/rights.json")"
    stop_cluster
}
