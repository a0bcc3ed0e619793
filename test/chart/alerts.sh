# shellcheck shell=bash
# Alerts that can fire: each over metrics that a running manager exposes, each with its page.

scrape() {
    local i port
    for ((i = 0; i < 2; i++)); do
        port=$(port_of $i metrics)
        curl -sf --max-time 5 "http://127.0.0.1:$port/metrics"
    done
}

stage_alerts() {
    local line=${lines[0]} name
    start_cluster || return
    ok "helm $line install" install "$line" "${all_on[@]}"
    set_policy '{"enable": true}' >/dev/null
    comes "every node has its NodeMetric" 30 nodemetrics_are 3
    scrape >"$dir/metrics"
    kube get prometheusrule koord-manager -n kube-system -o json | jq '.spec' >"$dir/rules.json"
    for name in $(jq -r '.groups[].rules[].expr' "$dir/rules.json" | grep -oE '[a-z_]+\{' | tr -d '{' | sort -u); do
        ok "/metrics has $name" grep -q "^# TYPE $name " "$dir/metrics"
    done
    same "every alert says what, why and how bad" "" "$(jq -r '.groups[].rules[] | select(
        (.labels.severity and .annotations.summary and .annotations.description and .annotations.runbook_url) | not) | .alert' \
        "$dir/rules.json")"
    same "every alert has its runbook, every runbook its alert" \
        "$(jq -r '.groups[].rules[].annotations.runbook_url' "$dir/rules.json" | sort)" "$(ls docs/runbooks/KoordManager*.md)"
    if command -v promtool >/dev/null; then
        ok "promtool accepts the rules" promtool check rules "$dir/rules.json"
    else
        skip "promtool accepts the rules" "there is no promtool here"
    fi
    helm "$line" uninstall koord-manager -n kube-system --wait >/dev/null 2>&1
    stop_cluster
}
