# What the manager asked for, and what it is allowed to: as lines "namespace|group|resource|name|verb",
# in which "*" is any.

def parsed:
    (.path | capture("^/(api|apis/(?<group>[^/]+))/[^/]+/(namespaces/(?<namespace>[^/]+)/)?(?<resource>[^/]+)(/(?<name>[^/]+)(/(?<sub>.+))?)?$")) as $at
    | (.query // "") as $query
    | {
        namespace: ($at.namespace // "*"),
        group: ($at.group // ""),
        resource: ($at.resource + (if $at.sub then "/" + $at.sub else "" end)),
        name: ($at.name // ($query | capture("fieldSelector=metadata.name(=|%3D)(?<name>[^&%,]+)") // {name: "*"} | .name)),
        verb: (
            if .method == "GET" then
                if $at.name then "get" elif ($query | test("(^|&)watch=(1|true)")) then "watch" else "list" end
            elif .method == "DELETE" then if $at.name then "delete" else "deletecollection" end
            else {POST: "create", PUT: "update", PATCH: "patch"}[.method] end)
    };

# One line for each thing a role allows.
def allowed:
    .items[] | (.metadata.namespace // "*") as $namespace | .rules[]
    | .apiGroups[] as $group | .resources[] as $resource | (.resourceNames // ["*"])[] as $name | .verbs[] as $verb
    | {$namespace, $group, $resource, $name, $verb};

# Whether the right covers the request.
def covers($request):
    .group == $request.group and .resource == $request.resource and .verb == $request.verb
    and (.namespace == "*" or .namespace == $request.namespace)
    and (.name == "*" or .name == $request.name);

def line: "\(.namespace)|\(.group)|\(.resource)|\(.name)|\(.verb)";

([$requests[] | parsed] | unique) as $asked
| ([allowed] | unique) as $rights
| {
    unused: [$rights[] | select(. as $right | all($asked[]; . as $request | $right | covers($request) | not)) | line],
    missing: [$asked[] | select(. as $request | all($rights[]; covers($request) | not)) | line]
}
