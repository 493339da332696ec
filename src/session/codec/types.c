/* types.c - the types of events, and which of them opening a session needs. */
#include "session/codec/types.h"

#include "session/codec/decode.h"
#include "session/codec/encode.h"

const struct codec_type codec_types[EVENT_N_TYPES] = {
    [EVENT_SESSION_BEGIN] = {codec_encode_session, codec_decode_session, true},
    [EVENT_RUN_BEGIN] = {codec_encode_run, codec_decode_run, true},
    [EVENT_USER_INPUT] = {codec_encode_message, codec_decode_message, true},
    [EVENT_PRE_RUN] = {codec_encode_run, codec_decode_run, false},
    [EVENT_TOOLS_CHANGED] = {codec_encode_tools, codec_decode_tools, false},
    [EVENT_CONTEXT] = {NULL, NULL, false},
    [EVENT_COMPACTED] = {codec_encode_compact, codec_decode_compact, false},
    [EVENT_FINAL_TURN] = {NULL, NULL, false},
    [EVENT_ATTEMPT_BEGIN] = {codec_encode_attempt, codec_decode_attempt, true},
    [EVENT_PROVIDER_REQUEST] = {codec_encode_request, codec_decode_request, false},
    [EVENT_NATIVE_PAYLOAD] = {codec_encode_payload, codec_decode_payload, false},
    [EVENT_DELTA] = {codec_encode_delta, codec_decode_delta, false},
    [EVENT_RESPONSE_RAW] = {codec_encode_reply, codec_decode_reply, true},
    [EVENT_ATTEMPT_END] = {codec_encode_attempt, codec_decode_attempt, true},
    [EVENT_RETRY] = {codec_encode_attempt, codec_decode_attempt, false},
    [EVENT_FALLBACK] = {codec_encode_attempt, codec_decode_attempt, false},
    [EVENT_TEXT_DROPPED] = {NULL, NULL, false},
    [EVENT_RESPONSE_NORMALIZED] = {codec_encode_message, codec_decode_message, true},
    [EVENT_ASSISTANT_COMMITTED] = {codec_encode_message, codec_decode_message, false},
    [EVENT_HISTORY] = {codec_encode_history, codec_decode_history, true},
    [EVENT_BATCH_BEGIN] = {codec_encode_batch, codec_decode_batch, false},
    [EVENT_TOOL_REQUEST] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_EARLY] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_DROPPED] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_BEGIN] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_PROGRESS] = {codec_encode_tool, codec_decode_tool, false},
    [EVENT_TOOL_END] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_RESULT] = {codec_encode_tool, codec_decode_tool, true},
    [EVENT_TOOL_COMMITTED] = {codec_encode_tool, codec_decode_tool, false},
    [EVENT_CHILD_BEGIN] = {NULL, NULL, true},
    [EVENT_CHILD_END] = {NULL, NULL, true},
    [EVENT_STATE] = {codec_encode_state, NULL, true},
    [EVENT_SNAPSHOT] = {codec_encode_snapshot, codec_decode_snapshot, false},
    [EVENT_PRE_IMAGE] = {codec_encode_pre_image, codec_decode_pre_image, false},
    [EVENT_ASKED] = {NULL, NULL, false},
    [EVENT_ANSWERED] = {codec_encode_answer, codec_decode_answer, false},
    [EVENT_NOTICE] = {NULL, codec_decode_notice, false},
    [EVENT_ERROR] = {codec_encode_error, codec_decode_error, false},
    [EVENT_RUN_END] = {codec_encode_result, codec_decode_result, true},
    [EVENT_REWOUND] = {NULL, NULL, true},
    [EVENT_CHECKPOINT] = {codec_encode_checkpoint, NULL, true},
    [EVENT_SESSION_CHANGED] = {NULL, NULL, false},
    [EVENT_SESSION_END] = {codec_encode_session, codec_decode_session, false},
};

bool codec_is_core(enum event_type t)
{
    return codec_types[t].is_core;
}

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
