# shellcheck shell=bash
# What the chart renders, for the value sets of test/testdata/chart. Comments at the top of a
# set say what is wanted of it:
#
#     # options: further options of helm template
#     # want: a jq expression over the array of rendered objects that must be true
#
# and of those in rejected/:
#
#     # says: what the refusal has to name (extended regular expression)
#     # lint: passes, where only rendering can find out

# The words that expressions are written with.
jq_words='
def kind($k): map(select(.kind == $k));
def the($k): kind($k) | if length == 1 then .[0] else error("not one \($k) but \(length)") end;
def kinds: map(.kind) | unique;
def pod: the("Deployment").spec.template.spec;
def manager: pod.containers[0];
def args: manager.args;
def policy: the("ConfigMap").data["colocation-config"] | fromjson;
def alerts: the("PrometheusRule").spec.groups[0].rules;
'

said_in() { # FILE WORD
    sed -n "s/^# $2: //p" "$1"
}

# In words of its own: options are several.
render() { # HELM FILE
    local options
    read -ra options <<<"$(said_in "$2" options)"
    "${helm_programs[$1]}" template koord-manager "$chart" -n kube-system -f "$2" "${options[@]}"
}

check_set() { # FILE
    local file=$1 set want
    set=$(basename "$file" .yaml)
    for line in "${lines[@]}"; do
        ok "$set: helm $line lints it" "${helm_programs[$line]}" lint --strict "$chart" -f "$file"
        ok "$set: helm $line renders it" render "$line" "$file"
        cp "$dir/out" "$dir/$set.$line.yaml"
    done
    if [ ${#lines[@]} -eq 2 ]; then
        same "$set: both render the same" "$(cat "$dir/$set.3.yaml")" "$(cat "$dir/$set.4.yaml")"
    fi
    if node "$here/objects.mjs" "$modules" <"$dir/$set.${lines[0]}.yaml" >"$dir/$set.json" 2>"$dir/out"; then
        pass "$set: every object fits the schema of its kind"
    else
        fail "$set: every object fits the schema of its kind" "$dir/out"
    fi
    while IFS= read -r want; do
        if [ "$(jq "$jq_words $want" "$dir/$set.json" 2>"$dir/out")" = true ]; then
            pass "$set: $want"
        else
            fail "$set: $want" "$dir/out"
        fi
    done < <(said_in "$file" want)
}

check_rejected() { # FILE
    local file=$1 set pattern
    set=$(basename "$file" .yaml)
    pattern=$(said_in "$file" says)
    for line in "${lines[@]}"; do
        [ -n "$(said_in "$file" lint)" ] || refused "$set: helm $line refuses to lint it" "$pattern" \
            "${helm_programs[$line]}" lint --strict "$chart" -f "$file"
        refused "$set: helm $line refuses to render it" "$pattern" render "$line" "$file"
    done
}

stage_render() {
    local file line
    for line in "${lines[@]}"; do
        ok "helm $line lints the chart" "${helm_programs[$line]}" lint --strict "$chart"
    done
    for file in "$data"/*.yaml; do
        check_set "$file"
    done
    for file in "$data"/rejected/*.yaml; do
        check_rejected "$file"
    done
    # The policy that an install puts in force passes admission.
    "${helm_programs[${lines[0]}]}" template x "$chart" -n kube-system -s templates/configmap.yaml >"$dir/policy.yaml"
    ok "the default policy is valid" "$bin/koordctl" validate -f "$dir/policy.yaml"
}

stage_sync() {
    ok "the chart's copies are in step" hack/sync-chart --check
}
