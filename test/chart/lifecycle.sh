# shellcheck shell=bash
# A release from install to uninstall, with each helm.

release() { # LINE VERB ARGUMENTS...: on our release, with what every verb takes
    helm "$1" "$2" koord-manager "${@:3}" -n kube-system
}

install() { # LINE ARGUMENTS...
    release "$1" install "$chart" --wait --timeout 60s "${@:2}"
}

all_on=(--set serviceMonitor.enabled=true --set prometheusRule.enabled=true
    --set networkPolicy.enabled=true --set priorityClasses.create=true)

# What is there now and was not in FILE; but what the managers wrote for nodes.
new_since() { # FILE
    comm -13 "$1" <(everything | grep -v '^Node[A-Z]')
}

# What an uninstall may leave: the CRDs and the policy.
leavings() {
    echo ConfigMap kube-system/slo-controller-config
    sed -nE 's/^  name: (.*)/CustomResourceDefinition \/\1/p' crds/*.yaml | sort
}

managers_run_with() { # ARGUMENT
    [ "$(jq --arg argument "$1" '.[1].spec.containers[0].args | any(. == $argument)' "$dir/running")" = true ]
}

lease_is_held() {
    [ -n "$(kube get lease koordinator-manager -n kube-system -o 'jsonpath={.spec.holderIdentity}')" ]
}

check_managers_ended() { # WHEN
    same "$1: every manager has left with code 0" 0 "$(sort -u "$dir/exits" 2>/dev/null)"
    rm -f "$dir/exits"
}

gone() {
    [ -z "$(kube get "$@" --ignore-not-found -o name)" ]
}

check_install() { # LINE
    local before=$failed
    ok "helm $1 install --wait" install "$1" "${all_on[@]}"
    [ "$failed" -eq "$before" ] || return
    cp "$dir/out" "$dir/notes"
    ok "the notes tell how to go on" grep -q 'rollout status deployment/koord-manager' "$dir/notes"
    ok "the notes tell that the image has to be loaded" grep -q 'image.registry is empty' "$dir/notes"
    ok "one replica holds the Lease" lease_is_held
    ok "helm $1 test" release "$1" test --timeout 30s
    ok "helm $1 status" release "$1" status
}

# An edit by hand, and what it does to nodes.
check_policy() {
    ok "kubectl edits the policy" set_policy '{"enable": true, "midCPUThresholdPercent": 45}'
    comes "every node has its NodeMetric" 30 nodemetrics_are 3
    ok "the agents report" report chart-1
    ok "the agents report" report chart-2
    ok "the agents report" report chart-3
    comes "every node lends" 30 nodes_lend 3
}

check_upgrade() { # LINE
    local edited
    edited=$(policy_in_force)
    ok "helm $1 upgrade" release "$1" upgrade "$chart" --wait --timeout 60s "${all_on[@]}" \
        --set manager.verbosity=4,config.colocation.midCPUThresholdPercent=10
    ok "the managers run with the new flag" managers_run_with --v=4
    same "the upgrade has left the policy alone" "$edited" "$(policy_in_force)"
    ok "helm $1 rollback" release "$1" rollback 1 --wait --timeout 60s
    ok "the managers run with the old flag" managers_run_with --v=2
    same "the rollback has left the policy alone" "$edited" "$(policy_in_force)"
    same "no node has lost anything" 3 "$(nodes_with_mid)"
    same "helm $1 history" "superseded superseded deployed" \
        "$(release "$1" history -o json | jq -r 'map(.status) | join(" ")')"
    set_policy '{"enable": "perhaps"}' >/dev/null
    refused "helm $1 test fails on a broken policy" 'failed|Failed' release "$1" test --timeout 30s
    kube delete pod -n kube-system --all >/dev/null
    set_policy "$edited" >/dev/null
    ok "helm $1 test passes on the mended one" release "$1" test --timeout 30s
}

check_uninstall() { # LINE
    ok "the policy is switched off" set_policy '{"enable": false}'
    comes "every node takes back what it lent" 30 nodes_lend 0
    ok "helm $1 uninstall" release "$1" uninstall --wait --timeout 60s
    comes "the Deployment is gone" 30 gone replicasets -n kube-system
    check_managers_ended "helm $1 uninstall"
    same "the CRDs and the policy are left, and nothing else" "$(leavings)" "$(new_since "$dir/before")"
}

# What was kept belongs to the release again when it comes back.
check_return() { # LINE
    kube delete configmap slo-controller-config -n kube-system >/dev/null
    ok "helm $1 install finds its CRD again and owns the policy" install "$1" \
        --set crds.keep=false,config.managed=true,config.colocation.enable=true,config.colocation.midCPUThresholdPercent=30
    comes "the policy of the values is in force" 30 nodemetrics_are 3
    ok "helm $1 upgrade writes the policy of the values" release "$1" upgrade "$chart" --wait --timeout 60s \
        --set crds.keep=false,config.managed=true,config.colocation.enable=false
    same "it has" false "$(policy_in_force | jq .enable)"
    ok "helm $1 uninstall" release "$1" uninstall --wait --timeout 60s
    comes "the Deployment is gone" 30 gone replicasets -n kube-system
    check_managers_ended "helm $1 uninstall"
    comes "nothing at all is left" 20 nothing_new
}

nothing_new() {
    [ -z "$(comm -13 "$dir/before" <(everything))" ]
}

# A cluster that has run upstream's manager: its CRD and ConfigMap are there.
check_adoption() { # LINE
    local upstream=$PWD/test/testdata/crds-upstream/slo.koordinator.sh_nodemetrics.yaml before policy force=()
    # Helm 4 applies on the server's side, where upstream's fields have another owner.
    [ "$1" = 4 ] && force=(--force-conflicts)
    policy='{"enable": false, "midCPUThresholdPercent": 77}'
    kube create -f "$upstream" >/dev/null
    kube create configmap slo-controller-config -n kube-system --from-literal=colocation-config="$policy" >/dev/null
    before=$(kube get crd nodemetrics.slo.koordinator.sh -o json | jq -S '.spec, .metadata.generation')
    ok "helm $1 install beside upstream's objects" install "$1"
    cp "$dir/out" "$dir/notes"
    ok "the notes name the CRD that was left alone" grep -q 'Left alone.*nodemetrics.slo.koordinator.sh' "$dir/notes"
    same "the CRD is upstream's" "$before" \
        "$(kube get crd nodemetrics.slo.koordinator.sh -o json | jq -S '.spec, .metadata.generation')"
    same "the policy is upstream's" "$policy" "$(policy_in_force)"
    refused "helm $1 takes nothing over unasked" 'ownership' release "$1" upgrade "$chart" --set crds.adopt=true
    ok "helm $1 takes the CRD over" release "$1" upgrade "$chart" --set crds.adopt=true --take-ownership \
        "${force[@]}" --wait --timeout 60s
    same "the CRD is ours" integer "$(kube get crd nodemetrics.slo.koordinator.sh -o json |
        jq -r '.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.predictPolicy.properties.coldStartPeriodSeconds.type')"
    same "the policy is still upstream's" "$policy" "$(policy_in_force)"
    ok "helm $1 upgrade needs no word about it any more" release "$1" upgrade "$chart" --wait --timeout 60s
    ok "helm $1 uninstall" release "$1" uninstall --wait --timeout 60s
    comes "the Deployment is gone" 30 gone replicasets -n kube-system
    check_managers_ended "helm $1 uninstall"
    same "what upstream installed is left" "$(leavings)" "$(new_since "$dir/before")"
    kube delete configmap slo-controller-config -n kube-system >/dev/null
    kube delete -f crds >/dev/null
}

stage_lifecycle() {
    local line
    for line in "${lines[@]}"; do
        start_cluster || return
        everything >"$dir/before"
        # Without an install nothing else says anything new.
        if check_install "$line"; then
            check_policy
            check_upgrade "$line"
            check_uninstall "$line"
            check_return "$line"
            check_adoption "$line"
        fi
        if [ "$failed" -gt 0 ]; then
            tail -n 20 "$dir"/kubelet.log "$dir"/replica.?.log
        fi
        stop_cluster
    done
}
