/* types.c - the types of events whose bodies are more than rows of fields. */
#include "session/codec/types.h"

#include "session/codec/decode.h"
#include "session/codec/encode.h"

const struct codec_type codec_types[EVENT_N_TYPES] = {
    [EVENT_SESSION_BEGIN] = {codec_encode_session, codec_decode_session},
    [EVENT_RUN_BEGIN] = {codec_encode_run, codec_decode_run},
    [EVENT_USER_INPUT] = {codec_encode_message, codec_decode_message},
    [EVENT_PRE_RUN] = {codec_encode_run, codec_decode_run},
    [EVENT_TOOLS_CHANGED] = {codec_encode_tools, codec_decode_tools},
    [EVENT_COMPACTED] = {codec_encode_compact, codec_decode_compact},
    [EVENT_ATTEMPT_BEGIN] = {codec_encode_attempt, codec_decode_attempt},
    [EVENT_PROVIDER_REQUEST] = {codec_encode_request, codec_decode_request},
    [EVENT_NATIVE_PAYLOAD] = {codec_encode_payload, codec_decode_payload},
    [EVENT_DELTA] = {codec_encode_delta, codec_decode_delta},
    [EVENT_RESPONSE_RAW] = {codec_encode_reply, codec_decode_reply},
    [EVENT_ATTEMPT_END] = {codec_encode_attempt, codec_decode_attempt},
    [EVENT_RETRY] = {codec_encode_attempt, codec_decode_attempt},
    [EVENT_FALLBACK] = {codec_encode_attempt, codec_decode_attempt},
    [EVENT_RESPONSE_NORMALIZED] = {codec_encode_message, codec_decode_message},
    [EVENT_ASSISTANT_COMMITTED] = {codec_encode_message, codec_decode_message},
    [EVENT_HISTORY] = {codec_encode_history, codec_decode_history},
    [EVENT_BATCH_BEGIN] = {codec_encode_batch, codec_decode_batch},
    [EVENT_TOOL_REQUEST] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_EARLY] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_DROPPED] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_BEGIN] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_PROGRESS] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_END] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_RESULT] = {codec_encode_tool, codec_decode_tool},
    [EVENT_TOOL_COMMITTED] = {codec_encode_tool, codec_decode_tool},
    [EVENT_STATE] = {codec_encode_state, NULL},
    [EVENT_SNAPSHOT] = {codec_encode_snapshot, codec_decode_snapshot},
    [EVENT_PRE_IMAGE] = {codec_encode_pre_image, codec_decode_pre_image},
    [EVENT_ANSWERED] = {codec_encode_answer, codec_decode_answer},
    [EVENT_NOTICE] = {NULL, codec_decode_notice},
    [EVENT_ERROR] = {codec_encode_error, codec_decode_error},
    [EVENT_RUN_END] = {codec_encode_result, codec_decode_result},
    [EVENT_CHECKPOINT] = {codec_encode_checkpoint, NULL},
    [EVENT_SESSION_END] = {codec_encode_session, codec_decode_session},
};

const char *codec_delta_kind_name(enum delta_kind k)
{
    static const char *const names[] = {
        [DELTA_TEXT] = "text",           [DELTA_REASONING] = "reasoning",
        [DELTA_REFUSAL] = "refusal",     [DELTA_TOOL_BEGIN] = "tool_begin",
        [DELTA_TOOL_ARGS] = "tool_args", [DELTA_SERVER_TOOL] = "server_tool",
        [DELTA_END] = "part_end",
    };

    return names[k];
}
