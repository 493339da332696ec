/* yaml.h - parses YAML into the same trees as JSON.
 *
 * YAML 1.2's core schema: plain null, true, false and numbers are what they look like, everything
 * else is text. Aliases are refused (they can blow up), and so are repeated keys and keys that are
 * not scalars. One document. Depth and number of values are capped. */
#ifndef KEEL_BASE_YAML_H
#define KEEL_BASE_YAML_H

#include "base/json.h"

#define YAML_MAX_DEPTH 64
#define YAML_MAX_VALUES 100000

/* The error names line, column and reason. An empty text is null. */
MUST_USE struct err *yaml_parse(struct arena *a, struct str input, struct json **ret_value);

#endif
