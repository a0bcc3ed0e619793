#include "test/apiserver/pattern.h"
#include <regex.h>
#include <stdlib.h>

/* Perl classes: outside brackets they need their own, inside they do not. */
static const struct {
    char letter;
    const char *members;
} classes[] = { { 'd', "0-9" }, { 'w', "0-9A-Za-z_" }, { 's', " \t\n\r\f\v" } };

static const char *class_members(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (classes[i].letter == letter)
            return classes[i].members;
    return NULL;
}

/* The escape whose letter is at `at`, inside or outside brackets. */
static void add_escape(struct strbuf *out, char letter, bool in_brackets)
{
    const char *members = class_members(letter);
    if (members)
        strbuf_addf(out, in_brackets ? "%s" : "[%s]", members);
    else if (letter == 'D' || letter == 'W' || letter == 'S')
        strbuf_addf(out, "[^%s]", class_members((char)(letter - 'A' + 'a')));
    else if (in_brackets)
        strbuf_addc(out, letter); /* a backslash is no escape inside POSIX brackets */
    else if (letter == 'z' || letter == 'A')
        strbuf_addc(out, letter == 'z' ? '$' : '^');
    else
        strbuf_addf(out, "\\%c", letter);
}

void api_pattern_to_posix(struct strbuf *out, struct str pattern)
{
    bool in_brackets = false;
    for (size_t i = 0; i < pattern.len; i++) {
        char byte = pattern.ptr[i];
        if (byte == '\\' && i + 1 < pattern.len) {
            add_escape(out, pattern.ptr[++i], in_brackets);
            continue;
        }
        if (!in_brackets && str_starts_with(str_slice(pattern, i, 3), STR("(?:"))) {
            strbuf_addc(out, '(');
            i += 2;
            continue;
        }
        if (byte == '[' && !in_brackets)
            in_brackets = true;
        else if (byte == ']' && in_brackets)
            in_brackets = false;
        strbuf_addc(out, byte);
    }
}

bool api_pattern_matches(struct str pattern, struct str text)
{
    CLEANUP(strbuf_done) struct strbuf posix = STRBUF_INIT((size_t)64 * 1024);
    api_pattern_to_posix(&posix, pattern);
    regex_t regex;
    if (regcomp(&regex, strbuf_cstr(&posix), REG_EXTENDED | REG_NOSUB) != 0)
        return true;
    char *subject = str_dup_c(text);
    bool matches = regexec(&regex, subject, 0, NULL, 0) == 0;
    free(subject);
    regfree(&regex);
    return matches;
}
