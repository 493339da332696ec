// query.mjs - the real Agent SDK with keel as its executable: node query.mjs KEEL
//
// The SDK is no part of keel. KEEL_AGENT_SDK names its package directory; without it npm's global
// root is looked at. Where there is none, or it is too old to be loaded, the test is skipped (77).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const SKIPPED = 77;
const PACKAGE = '@anthropic-ai/claude-agent-sdk';
const keel = path.resolve(process.argv[2]);

function findSdk() {
    if (process.env.KEEL_AGENT_SDK)
        return process.env.KEEL_AGENT_SDK;
    try {
        return path.join(execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim(), PACKAGE);
    } catch {
        return null;
    }
}

const sdk = findSdk();
if (!sdk || !fs.existsSync(path.join(sdk, 'sdk.mjs'))) {
    console.log(`skipped: ${PACKAGE} is not installed (KEEL_AGENT_SDK names its directory)`);
    process.exit(SKIPPED);
}
const { query } = await import(pathToFileURL(path.join(sdk, 'sdk.mjs')));

// --- a model: each request is answered by the next turn of the script ---

const event = data => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

function blocks(turn) {
    if (typeof turn === 'string')
        return [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: turn } }];
    return [{ start: { type: 'tool_use', id: 'call_' + turn.n, name: turn.name, input: {} },
              delta: { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) } }];
}

function answer(res, turn) {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(event({ type: 'message_start', message: {
        id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [],
        stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } } }));
    for (const { start, delta } of blocks(turn.text ?? turn)) {
        res.write(event({ type: 'content_block_start', index: 0, content_block: start }));
        res.write(event({ type: 'content_block_delta', index: 0, delta }));
        if (turn.stays)
            return; // open: whoever asked must end it
        res.write(event({ type: 'content_block_stop', index: 0 }));
    }
    const stop_reason = typeof turn === 'string' ? 'end_turn' : 'tool_use';
    res.write(event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } }));
    res.end(event({ type: 'message_stop' }));
}

class Model {
    constructor(...turns) { Object.assign(this, { turns, requests: [] }); }

    async start() {
        this.server = http.createServer((req, res) => {
            const pieces = [];
            req.on('data', piece => pieces.push(piece));
            req.on('end', () => {
                if (req.method === 'GET') { // a question about its models
                    res.writeHead(404).end();
                    return;
                }
                this.requests.push(JSON.parse(Buffer.concat(pieces).toString()));
                answer(res, this.turns.length > 1 ? this.turns.shift() : this.turns[0]);
            });
        });
        await new Promise(done => this.server.listen(0, '127.0.0.1', done));
        return this;
    }

    stop() {
        this.server.closeAllConnections();
        this.server.close();
    }
}

// --- a place to run in ---

const KEPT = ['PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS'];

function place() {
    const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'keel-sdk-')));
    for (const name of ['home', 'project'])
        fs.mkdirSync(path.join(dir, name));
    return dir;
}

function options(dir, model, more) {
    const kept = KEPT.filter(name => name in process.env).map(name => [name, process.env[name]]);
    return { pathToClaudeCodeExecutable: keel, cwd: path.join(dir, 'project'), model: 'anthropic/m',
             env: { ...Object.fromEntries(kept), HOME: path.join(dir, 'home'),
                    ANTHROPIC_API_KEY: 'sk-scripted',
                    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.server.address().port}` },
             ...more };
}

async function all(messages, each = () => {}) {
    const seen = [];
    for await (const message of messages) {
        seen.push(message);
        await each(message);
    }
    return seen;
}

const kinds = seen => seen.map(m => m.subtype ? `${m.type}/${m.subtype}` : m.type);
const prompt = content => ({ type: 'user', message: { role: 'user', content },
                             parent_tool_use_id: null });
const touch = (name, n = 1) => ({ name: 'Bash', n, input: { command: 'touch ' + name } });
const SUCCESS = ['system/init', 'assistant', 'result/success'];

// --- tests: a name, the model's turns, what happens ---

const tests = [];
const test = (name, turns, body) => tests.push({ name, turns, body });

test('a prompt is answered', ['Hello.'], async run => {
    const seen = await all(run.query('hi'));
    assert.deepEqual(kinds(seen), SUCCESS);
    assert.equal(seen[2].result, 'Hello.');
    assert.equal(seen[0].cwd, run.cwd);
    assert.equal(run.model.requests[0].model, 'm');
    assert.equal(run.model.requests[0].system, undefined); // the SDK's default is none
});

test('a system prompt reaches the model', ['Hello.'], async run => {
    await all(run.query('hi', { systemPrompt: 'Be a poet.' }));
    assert.match(JSON.stringify(run.model.requests[0].system), /Be a poet\./);
});

test('the preset is keel\'s own prompt with what is appended', ['Hello.'], async run => {
    await all(run.query('hi', { systemPrompt: { type: 'preset', preset: 'claude_code',
                                                append: 'Be brief.' } }));
    assert.match(JSON.stringify(run.model.requests[0].system), /Working directory.*Be brief\./);
});

test('prompts that are streamed in are one conversation', ['one', 'two'], async run => {
    async function* prompts() {
        yield prompt('first');
        yield prompt([{ type: 'text', text: 'second' }]);
    }
    const seen = await all(run.query(prompts()));
    assert.deepEqual(kinds(seen), [...SUCCESS, ...SUCCESS]);
    assert.deepEqual(run.model.requests[1].messages.map(m => m.role),
                     ['user', 'assistant', 'user']);
});

test('allowedTools run without a question', [touch('made'), 'Done.'], async run => {
    const seen = await all(run.query('go', { allowedTools: ['Bash(touch made)'] }));
    assert.deepEqual(kinds(seen), ['system/init', 'assistant', 'user', 'assistant',
                                   'result/success']);
    assert.equal(seen[2].parent_tool_use_id, null);
    assert.ok(run.exists('made'));
});

test('without a rule nothing runs', [touch('made'), 'Done.'], async run => {
    const seen = await all(run.query('go'));
    assert.equal(seen.at(-1).permission_denials.length, 1);
    assert.ok(!run.exists('made'));
});

test('permissionMode counts', [touch('made'), 'Done.'], async run => {
    const seen = await all(run.query('go', { permissionMode: 'bypassPermissions',
                                             allowDangerouslySkipPermissions: true }));
    assert.equal(seen[0].permissionMode, 'bypassPermissions');
    assert.ok(run.exists('made'));
});

test('canUseTool says yes', [touch('made'), 'Done.'], async run => {
    const asked = [];
    await all(run.query('go', { canUseTool: async (tool, input, { toolUseID }) => {
        asked.push([tool, input, toolUseID]);
        return { behavior: 'allow', updatedInput: input };
    } }));
    assert.deepEqual(asked, [['Bash', { command: 'touch made' }, 'call_1']]);
    assert.ok(run.exists('made'));
});

test('canUseTool changes the arguments', [touch('made'), 'Done.'], async run => {
    await all(run.query('go', { canUseTool: async () =>
        ({ behavior: 'allow', updatedInput: { command: 'touch other' } }) }));
    assert.ok(!run.exists('made') && run.exists('other'));
});

test('canUseTool says no', [touch('made'), 'Done.'], async run => {
    const seen = await all(run.query('go', { canUseTool: async () =>
        ({ behavior: 'deny', message: 'not today' }) }));
    assert.match(JSON.stringify(run.model.requests[1].messages), /not today/);
    assert.equal(seen.at(-1).permission_denials[0].tool_name, 'Bash');
    assert.ok(!run.exists('made'));
});

test('what canUseTool suggests back is not asked again',
     [touch('made', 1), touch('made', 2), 'Done.'], async run => {
    let n = 0;
    await all(run.query('go', { canUseTool: async (tool, input, { suggestions }) => {
        n++;
        return { behavior: 'allow', updatedInput: input, updatedPermissions: suggestions };
    } }));
    assert.equal(n, 1);
});

test('maxTurns ends it', [touch('made')], async run => {
    const results = [];
    await assert.rejects(all(run.query('go', { maxTurns: 1, permissionMode: 'bypassPermissions',
                                               allowDangerouslySkipPermissions: true }),
                             m => m.type === 'result' && results.push(m.subtype)));
    assert.deepEqual(results, ['error_max_turns']);
    assert.equal(run.model.requests.length, 2); // a last one, without tools
});

test('includePartialMessages streams', ['Hello.'], async run => {
    const seen = await all(run.query('hi', { includePartialMessages: true }));
    const pieces = seen.filter(m => m.type === 'stream_event').map(m => m.event.type);
    assert.deepEqual(pieces, ['message_start', 'content_block_start', 'content_block_delta',
                              'content_block_stop', 'message_delta', 'message_stop']);
});

test('the other options are taken', ['Hello.'], async run => {
    const sessionId = '0193d0c4-1111-7000-8000-00000000000a';
    const seen = await all(run.query('hi', {
        sessionId, tools: ['Read', 'Bash'], disallowedTools: ['Bash'], settingSources: [],
        strictMcpConfig: true, additionalDirectories: [os.tmpdir()], persistSession: false,
        fallbackModel: 'anthropic/n', effort: 'low', maxBudgetUsd: 1, mcpServers: {}, agents: {},
        thinking: { type: 'adaptive' } }));
    assert.deepEqual(seen[0].tools, ['Read']);
    assert.equal(seen[0].session_id, sessionId);
    assert.equal(run.model.requests[0].thinking.type, 'adaptive');
});

test('interrupt ends the run, the next prompt is answered', [{ text: 'Well', stays: true }, 'Back.'],
     async run => {
    let next, n = 0;
    const interrupted = new Promise(done => next = done);
    async function* prompts() {
        yield prompt('first');
        await interrupted;
        yield prompt('second');
    }
    const q = run.query(prompts(), { includePartialMessages: true });
    const seen = await all(q, async m => {
        if (m.type === 'stream_event' && m.event.type === 'content_block_delta' && n++ === 0) {
            await q.interrupt();
            next();
        }
    });
    const results = seen.filter(m => m.type === 'result');
    assert.deepEqual(results.map(m => m.is_error), [true, false]);
    assert.equal(results[1].result, 'Back.');
});

test('setModel and setPermissionMode count for the next prompt', ['one', 'two'], async run => {
    let next;
    const changed = new Promise(done => next = done);
    async function* prompts() {
        yield prompt('first');
        await changed;
        yield prompt('second');
    }
    const q = run.query(prompts());
    const seen = await all(q, async m => {
        if (m.type !== 'result' || run.model.requests.length > 1)
            return;
        await q.setModel('anthropic/other');
        await q.setPermissionMode('plan');
        next();
    });
    const init = seen.filter(m => m.subtype === 'init').at(-1);
    assert.deepEqual([init.model, init.permissionMode], ['other', 'plan']);
    assert.equal(run.model.requests[1].model, 'other');
});

test('what the host asks about keel is answered', ['Hello.'], async run => {
    const q = run.query('hi');
    assert.deepEqual(await q.supportedCommands(), []);
    assert.equal((await q.supportedModels())[0].value, 'anthropic/m');
    assert.deepEqual(await q.accountInfo(), { apiKeySource: 'ANTHROPIC_API_KEY' });
    assert.deepEqual(await q.mcpServerStatus(), []);
    await all(q);
});

test('abortController ends the program', [{ text: 'Well', stays: true }], async run => {
    const abortController = new AbortController();
    await assert.rejects(all(run.query('hi', { abortController, includePartialMessages: true }), m => {
        if (m.type === 'stream_event')
            abortController.abort();
    }), /abort/i);
});

test('hooks are refused, not ignored', ['Hello.'], async run => {
    const hooks = { PreToolUse: [{ hooks: [async () => ({})] }] };
    await assert.rejects(all(run.query('hi', { hooks })), /hooks/);
    assert.equal(run.model.requests.length, 0);
});

test('servers and agents that keel does not have are refused', ['Hello.'], async run => {
    await assert.rejects(all(run.query('hi', { mcpServers: { x: { command: 'true' } } })), /MCP/);
    await assert.rejects(all(run.query('hi', { agents: { x: { description: 'd', prompt: 'p' } } })),
                         /agents/);
    assert.equal(run.model.requests.length, 0);
});

// --- running them ---

let n_failed = 0;
for (const { name, turns, body } of tests) {
    const dir = place(), model = await new Model(...turns).start();
    try {
        await body({
            model, cwd: path.join(dir, 'project'),
            query: (text, more) => query({ prompt: text, options: options(dir, model, more) }),
            exists: file => fs.existsSync(path.join(dir, 'project', file)),
        });
        console.log(`ok: ${name}`);
    } catch (e) {
        n_failed++;
        console.log(`FAILED: ${name}\n${e.stack}`);
    } finally {
        model.stop();
        fs.rmSync(dir, { recursive: true, force: true });
    }
}
console.log(`${tests.length - n_failed} passed, ${n_failed} failed`);
process.exit(n_failed ? 1 : 0);
