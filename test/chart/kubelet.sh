# shellcheck shell=bash
# What a cluster does for a Deployment and a Pod, as far as helm can see: our programs run
# with the arguments of the pod template and the rights of its service account, probes are
# asked, statuses written. One loop, in a process of its own.

declare -a replicas=() # process ids
running=               # the template they run, with their number

# So that a program never outlives us, whatever becomes of this process.
start_replica() { # INDEX ARGUMENTS...
    local log=$dir/replica.$1.log
    "$bin/koord-manager" "${@:2}" --kubeconfig="$dir/manager.kubeconfig" --metrics-addr=127.0.0.1:0 \
        --health-probe-addr=127.0.0.1:0 >"$log" 2>&1 &
    replicas+=($!)
}

stop_replicas() {
    local pid
    for pid in "${replicas[@]}"; do
        kill "$pid" 2>/dev/null
    done
    for pid in "${replicas[@]}"; do
        wait "$pid"
        echo $? >>"$dir/exits"
    done
    replicas=()
    running=
}

port_of() { # INDEX metrics|health
    sed -nE "s/.*$2-port=([0-9]+).*/\1/p" "$dir/replica.$1.log"
}

replica_answers() { # INDEX PATH
    local port
    port=$(port_of "$1" health)
    [ -n "$port" ] && curl -sf -o /dev/null --max-time 5 "http://127.0.0.1:$port$2"
}

now() {
    date -u +%FT%TZ
}

# The ReplicaSet of this template and no other, since helm 3 looks at its status.
write_replica_set() { # DEPLOYMENT-FILE COUNT
    local hash name
    hash=$(jq -cS .spec.template "$1" | sha256sum | cut -c 1-8)
    name=$(jq -r .metadata.name "$1")-$hash
    jq --arg name "$name" --arg hash "$hash" '{apiVersion: "apps/v1", kind: "ReplicaSet",
        metadata: {name: $name, namespace: .metadata.namespace,
            labels: (.spec.template.metadata.labels + {"pod-template-hash": $hash}),
            ownerReferences: [{apiVersion: "apps/v1", kind: "Deployment", controller: true,
                name: .metadata.name, uid: .metadata.uid}]},
        spec: {replicas: .spec.replicas,
            selector: {matchLabels: (.spec.selector.matchLabels + {"pod-template-hash": $hash})},
            template: (.spec.template | .metadata.labels += {"pod-template-hash": $hash})}}' "$1" |
        kube apply -f - || return 1
    kube get replicasets -n kube-system -o name | grep -v "/$name\$" | xargs -r "$kubectl" \
        --kubeconfig="$admin_kubeconfig" --cache-dir="$dir/kube-cache" delete -n kube-system
    kube patch replicaset "$name" -n kube-system --subresource=status --type=merge -p "{\"status\":
        {\"replicas\": $2, \"readyReplicas\": $2, \"availableReplicas\": $2, \"observedGeneration\": 1}}"
}

write_status() { # DEPLOYMENT-FILE COUNT
    write_replica_set "$1" "$2" || return 1
    kube patch deployment "$(jq -r .metadata.name "$1")" -n kube-system --subresource=status --type=merge \
        -p "$(jq --argjson count "$2" --arg now "$(now)" '{status: {observedGeneration: .metadata.generation,
            replicas: $count, updatedReplicas: $count, readyReplicas: $count, availableReplicas: $count,
            conditions: [
                {type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "",
                    lastUpdateTime: $now, lastTransitionTime: $now},
                {type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", message: "",
                    lastUpdateTime: $now, lastTransitionTime: $now}]}}' "$1")"
}

serve_deployment() {
    local file=$dir/deployment.json wanted count i probe
    kube get deployments -n kube-system -o json | jq '.items[0] // empty' >"$file" || return
    if [ ! -s "$file" ]; then
        [ ${#replicas[@]} -gt 0 ] && stop_replicas
        kube get replicasets -n kube-system -o name | xargs -r "$kubectl" --kubeconfig="$admin_kubeconfig" \
            --cache-dir="$dir/kube-cache" delete -n kube-system
        return
    fi
    wanted=$(jq -cS '[.spec.replicas, .spec.template]' "$file")
    count=$(jq .spec.replicas "$file")
    if [ "$wanted" != "$running" ]; then
        stop_replicas
        if [ -n "${KOORD_TEST_KUBECONFIG:-}" ]; then
            kubeconfig_with_token "$(kube create token koord-manager -n kube-system)" || return
        fi
        readarray -t arguments < <(jq -r '.spec.template.spec.containers[0].args[]' "$file")
        for ((i = 0; i < count; i++)); do
            start_replica $i "${arguments[@]}"
        done
        running=$wanted
        echo "$wanted" >"$dir/running.new"
        mv "$dir/running.new" "$dir/running"
    fi
    [ "$(jq '.status.observedGeneration == .metadata.generation' "$file")" = true ] && return
    for probe in startupProbe readinessProbe livenessProbe; do
        for ((i = 0; i < count; i++)); do
            replica_answers $i "$(jq -r ".spec.template.spec.containers[0].$probe.httpGet.path" "$file")" || return
        done
    done
    write_status "$file" "$count"
}

# A pod that runs to its end, such as that of helm test.
serve_pods() {
    local file=$dir/pod.json name program code phase=Failed
    kube get pods -n kube-system -o json |
        jq '[.items[] | select(.status.phase == null or .status.phase == "Pending")][0] // empty' >"$file" || return
    [ -s "$file" ] || return
    name=$(jq -r .metadata.name "$file")
    program=$bin/$(basename "$(jq -r '.spec.containers[0].command[0]' "$file")")
    readarray -t arguments < <(jq -r '.spec.containers[0].args[]' "$file")
    KUBECONFIG=$dir/manager.kubeconfig "$program" "${arguments[@]}" >"$dir/pod.log" 2>&1
    code=$?
    [ $code -eq 0 ] && phase=Succeeded
    kube patch pod "$name" -n kube-system --subresource=status --type=merge \
        -p "$(jq -n --arg phase $phase --argjson code $code --arg now "$(now)" '{status: {phase: $phase, startTime: $now,
            containerStatuses: [{name: "plan", ready: false, restartCount: 0, image: "", imageID: "",
                state: {terminated: {exitCode: $code, startedAt: $now, finishedAt: $now, reason: "Completed"}}}]}}')"
}

kubelet() {
    trap 'stop_replicas; exit 0' TERM
    while :; do
        serve_deployment
        serve_pods
        sleep 0.2
    done
}
