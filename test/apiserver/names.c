#include "test/apiserver/names.h"
#include "selector/selector.h"
#include "test/apiserver/validate.h"

static bool is_lower_alnum(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/* Letters and digits at both ends, '-' allowed between. */
static bool is_dns_part(struct str part)
{
    if (part.len == 0 || !is_lower_alnum(part.ptr[0]) || !is_lower_alnum(part.ptr[part.len - 1]))
        return false;
    for (size_t i = 0; i < part.len; i++)
        if (!is_lower_alnum(part.ptr[i]) && part.ptr[i] != '-')
            return false;
    return true;
}

bool api_dns_label_valid(struct str name)
{
    return name.len <= 63 && is_dns_part(name);
}

bool api_dns_subdomain_valid(struct str name)
{
    struct str part, rest = name;
    bool more = true;
    while (more) {
        more = str_cut(rest, '.', &part, &rest);
        if (!is_dns_part(part))
            return false;
    }
    return name.len <= 253;
}

const char *api_name_subdomain(struct str name)
{
    if (name.len > 253)
        return "must be no more than 253 bytes";
    return api_dns_subdomain_valid(name)
               ? NULL
               : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                 "'.', and "
                 "must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
                 "validation "
                 "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

const char *api_name_label(struct str name)
{
    if (name.len > 63)
        return "must be no more than 63 bytes";
    return api_dns_label_valid(name) ? NULL
                                     : "a lowercase RFC 1123 label must consist of lower case alphanumeric "
                                       "characters or '-', and must "
                                       "start and end with an alphanumeric character (e.g. 'my-name',  or "
                                       "'123-abc', regex used for "
                                       "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

const char *api_name_path_segment(struct str name)
{
    if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
        return "may not be '.' or '..'";
    if (str_find_byte(name, '/') >= 0)
        return "may not contain '/'";
    return str_find_byte(name, '%') >= 0 ? "may not contain '%'" : NULL;
}

const char *api_name_qualified(struct str name)
{
    return label_key_valid(name)
               ? NULL
               : "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and "
                 "must start and end with an alphanumeric character, with an optional DNS "
                 "subdomain prefix and '/' (e.g. 'example.com/MyName')";
}

const char *api_name_config_key(struct str name)
{
    static const char why[] =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')";
    if (name.len > 253)
        return "must be no more than 253 bytes";
    if (name.len == 0)
        return why;
    if (str_eq(name, STR(".")) || str_starts_with(name, STR("..")))
        return "must not be '.' or start with '..'";
    for (size_t i = 0; i < name.len; i++) {
        char byte = name.ptr[i];
        bool fine =
            is_lower_alnum(byte) || (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' || byte == '.';
        if (!fine)
            return why;
    }
    return NULL;
}
