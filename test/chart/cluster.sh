# shellcheck shell=bash
# A cluster to install on: the in-tree API server with RBAC on, or the one of
# KOORD_TEST_KUBECONFIG.

account=system:serviceaccount:kube-system:koord-manager
server_pid=
kubelet_pid=
admin_kubeconfig=

kube() {
    "$kubectl" --kubeconfig="$admin_kubeconfig" --cache-dir="$dir/kube-cache" "$@"
}

# helm LINE ARGUMENTS...
helm() {
    local line=$1
    shift
    KUBECONFIG=$admin_kubeconfig "${helm_programs[$line]}" "$@"
}

# The account's own kubeconfig: the admin's, with another token.
kubeconfig_with_token() { # TOKEN
    cp "$admin_kubeconfig" "$dir/manager.kubeconfig"
    "$kubectl" --kubeconfig="$dir/manager.kubeconfig" config set-credentials manager --token="$1" >/dev/null &&
        "$kubectl" --kubeconfig="$dir/manager.kubeconfig" config set-context --current --user=manager >/dev/null
}

start_server() { # FLAGS...
    admin_kubeconfig=$dir/admin.kubeconfig
    rm -f "$admin_kubeconfig" "$dir/requests.log"
    cat >"$dir/tokens" <<EOF
admin-token,admin,1,"system:masters"
manager-token,$account,2,"system:serviceaccounts,system:serviceaccounts:kube-system,system:authenticated"
EOF
    # Go's clients send no token in the clear.
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=chart-test \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/tls.key" -out "$dir/tls.crt" 2>"$dir/out" ||
        { fail "openssl makes a certificate" "$dir/out" && return 1; }
    "$bin/test-apiserver" --port 0 --tls-cert "$dir/tls.crt" --tls-key "$dir/tls.key" --rbac --control \
        --request-log "$dir/requests.log" --token-file "$dir/tokens" --write-kubeconfig "$admin_kubeconfig" \
        --kubeconfig-token admin-token "$@" >"$dir/server.log" 2>&1 &
    server_pid=$!
    comes "the API server answers" 30 kube get --raw /readyz || return 1
    server=$(sed -n 's/^ *server: //p' "$admin_kubeconfig")
    kubeconfig_with_token manager-token
}

# What every test finds: three nodes, and kinds of other projects.
fill_cluster() {
    local node
    for node in 1 2 3; do
        kube create -f - <<EOF || return 1
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "chart-$node"}}
EOF
        kube patch node "chart-$node" --subresource=status --type=merge -p '{"status":
            {"capacity": {"cpu": "16", "memory": "64Gi", "pods": "110"},
             "allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}}' || return 1
    done
    # Real servers refuse pods beyond this level; that of helm test is made like the manager's.
    kube label namespace kube-system pod-security.kubernetes.io/enforce=restricted --overwrite &&
        kube apply -f "$here/neighbours.yaml" &&
        kube wait --for=condition=Established -f "$here/neighbours.yaml" --timeout=30s
}

# What hack/envtest has put into a cluster of its own is what the chart brings.
clear_cluster() {
    if [ -n "$(kube get nodes -o name)" ]; then
        fail "the cluster is one for tests (it has nodes)"
        return 1
    fi
    kube delete -f crds -f test/envtest/rbac.yaml --ignore-not-found >/dev/null
}

start_cluster() { # FLAGS... of the in-tree server
    if [ -n "${KOORD_TEST_KUBECONFIG:-}" ]; then
        admin_kubeconfig=$KOORD_TEST_KUBECONFIG
        comes "the API server answers" 30 kube get --raw /readyz || return 1
        clear_cluster || return 1
    else
        start_server "$@" || return 1
    fi
    fill_cluster >"$dir/out" 2>&1 || { fail "the cluster is filled" "$dir/out" && return 1; }
    kubelet >"$dir/kubelet.log" 2>&1 &
    kubelet_pid=$!
}

stop_cluster() {
    if [ -n "$kubelet_pid" ]; then
        kill "$kubelet_pid" 2>/dev/null && wait "$kubelet_pid" 2>/dev/null
        kubelet_pid=
    fi
    if [ -n "${KOORD_TEST_KUBECONFIG:-}" ] && [ -n "$admin_kubeconfig" ]; then
        kube delete node chart-1 chart-2 chart-3 --ignore-not-found >/dev/null 2>&1
        kube delete -f "$here/neighbours.yaml" --ignore-not-found >/dev/null 2>&1
    fi
    if [ -n "$server_pid" ]; then
        kill "$server_pid" 2>/dev/null
        wait "$server_pid"
        same "the API server ends well" 0 $?
        server_pid=
    fi
}

stop_everything() {
    [ -n "$kubelet_pid$server_pid" ] && stop_cluster >/dev/null
}

# Every object there is but Events and what follows from others, one a line: "Kind namespace/name".
everything() {
    local kinds
    kinds=$(kube api-resources --verbs=list -o name | grep -vE '^(events|componentstatuses|apiservices)' | paste -sd,)
    kube get "$kinds" -A -o json |
        jq -r '.items[] | "\(.kind) \(.metadata.namespace // "")/\(.metadata.name)"' | sort -u
}

# A report such as the agent's: half of the node is predicted to stay unused.
report() { # NODE
    kube patch nodemetric "$1" --subresource=status --type=merge -p '{"status": {"updateTime": "'"$(date -u +%FT%TZ)"'",
        "nodeMetric": {"nodeUsage": {"resources": {"cpu": "4", "memory": "16Gi"}}},
        "prodReclaimableMetric": {"resource": {"resources": {"cpu": "8", "memory": "32Gi"}}}}}'
}

set_policy() { # JSON
    kube patch configmap slo-controller-config -n kube-system --type=merge \
        -p "$(jq -n --arg text "$1" '{data: {"colocation-config": $text}}')"
}

policy_in_force() {
    kube get configmap slo-controller-config -n kube-system -o 'jsonpath={.data.colocation-config}'
}

nodes_with_mid() {
    kube get nodes -o json | jq '[.items[] | select(.status.allocatable["kubernetes.io/mid-cpu"])] | length'
}

nodes_lend() { # COUNT
    [ "$(nodes_with_mid)" = "$1" ]
}

nodemetrics_are() { # COUNT
    [ "$(kube get nodemetrics -o name | wc -l)" = "$1" ]
}
