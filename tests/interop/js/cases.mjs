// What must be true for every JavaScript client, whatever its generation.
//
// A script per SDK (v1_3.mjs, v0_3.mjs) gives an adapter: calls in, the neutral shapes below out. The adapter uses the
// SDK as its documentation shows it, with default timeouts and transports, so what passes here works for a user.
//
//   part      {text} | {data} | {file: Buffer, media, name}
//   artifact  {id, name, parts}
//   message   {is: 'message', role, parts, text, task, context}
//   task      {is: 'task', id, context, state, message, artifacts, history}
//   status    {is: 'status', task, context, state, final}     final is undefined where the generation has no such field
//   chunk     {is: 'chunk', task, context, artifact, append, last}

import { deepStrictEqual } from 'node:assert';
import { inspect } from 'node:util';

const CASE_SECONDS = 30; // ours, not an SDK's: a hanging server must not hang the suite
// What lets us in, where the device is shut: it is sent with every request.
const TOKEN = process.env.MOTE_TOKEN;
const TERMINAL = ['completed', 'canceled', 'failed', 'rejected'];

const cases = [];

/** What an SDK is given to send a token with; nothing where there is none. */
export const fetching = TOKEN ? { fetchImpl: fetchWithToken } : undefined;

function fetchWithToken(url, init) {
  const headers = new Headers(init?.headers);
  headers.set('Authorization', `Bearer ${TOKEN}`);
  return fetch(url, { ...init, headers });
}

/** Registers a case; with generations named, only those run it. */
function test(name, run, ...generations) {
  cases.push({ name, run, generations });
}

const show = (value) => inspect(value, { depth: 6, breakLength: Infinity });

export function check(truth, what) {
  if (!truth) throw new Error(what);
}

export function same(got, want, what) {
  try {
    deepStrictEqual(got, want);
  } catch {
    throw new Error(`${what}: ${show(got)} instead of ${show(want)}`);
  }
}

/** The call must end in the SDK's own typed error for one of these codes. */
export async function refused(sdk, call, ...codes) {
  let got;
  try {
    got = await call();
  } catch (error) {
    const code = sdk.code(error);
    check(codes.includes(code), `error ${code} instead of ${codes}: ${error.name}: ${error.message}`);
    return;
  }
  throw new Error(`no error ${codes}, but ${show(got)}`);
}

async function drain(stream) {
  const got = [];
  for await (const event of stream) got.push(event);
  return got;
}

/** The first events of a stream, which is then dropped. */
async function first(stream, count) {
  const got = [];
  for await (const event of stream) {
    got.push(event);
    if (got.length === count) break;
  }
  return got;
}

/** Snapshot and events to a task, as a client has to do it. */
function fold(events) {
  const task = structuredClone(events[0]);
  check(task.is === 'task', `a stream starts with the task, not ${show(task)}`);
  for (const event of events.slice(1)) {
    check(event.is !== 'task', 'a second snapshot in one stream');
    same([event.task, event.context], [task.id, task.context], 'ids of an event');
    if (event.is === 'status') {
      task.state = event.state;
      continue;
    }
    const known = task.artifacts.find((a) => a.id === event.artifact.id);
    if (event.append) {
      check(known, 'an appended chunk without a first one');
      known.parts.push(...event.artifact.parts);
    } else {
      task.artifacts = [...task.artifacts.filter((a) => a !== known), structuredClone(event.artifact)];
    }
  }
  return task;
}

function endsWith(events, state) {
  const last = events.at(-1);
  check(last.is === 'status', `the last event is ${show(last)}`);
  same(last.state, state, 'last state');
  const finals = events.filter((e) => e.is === 'status').map((e) => e.final);
  check(finals.at(-1) !== false && !finals.slice(0, -1).some(Boolean), `\`final\` is for the last only: ${finals}`);
}

const partsOf = (task) => task.artifacts.flatMap((a) => a.parts);
const readings = (task) => partsOf(task).flatMap((p) => (p.data === undefined ? [] : [p.data]));

function isReading(data) {
  same(data?.sensor, 'temperature', 'sensor');
  check(typeof data.value === 'number' && data.unit, `a number and its unit: ${show(data)}`);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// What the card says

test('card', async (sdk) => {
  const card = await sdk.card();
  for (const what of ['name', 'description', 'version']) check(card[what], `${what} is empty`);
  for (const what of ['inputs', 'outputs', 'skills']) check(card[what]?.length, `${what} is empty`);
  check(/^https?:/.test(card.url), `url ${card.url}`);
  check(card.streaming, 'streaming is not promised');
  check(card.push, 'push notifications are not promised');
  for (const { id, name, description, tags } of card.skills)
    check(id && name && description && tags?.length, `skill ${id} lacks a name, a description or tags`);
});

test('card at the other well-known path', async (sdk) => {
  same(await sdk.card('.well-known/agent.json'), await sdk.card(), 'card');
});

test('every example of the card is understood', async (sdk) => {
  for (const { id, examples } of (await sdk.card()).skills)
    for (const example of examples ?? []) {
      if (['hello', 'help'].includes(example)) continue;
      const reply = await sdk.send(example, { wait: false });
      check(reply.is === 'task', `'${example}' of ${id} got ${show(reply)}`);
      check(!['failed', 'rejected'].includes(reply.state), `'${example}' of ${id} is ${reply.state}`);
      await sdk.cancel(reply.id).catch(() => {});
    }
});

// Asking

test('blocking send', async (sdk) => {
  const task = await sdk.send('read temperature');
  check(task.is === 'task' && task.id && task.context, `a task with ids, not ${show(task)}`);
  same(task.state, 'completed', 'state');
  same(task.artifacts.map((a) => a.name), ['temperature'], 'artifacts');
  same(readings(task).length, 1, 'data parts');
  isReading(readings(task)[0]);
  check(task.artifacts[0].parts.some((p) => p.text), 'a text part');
});

test('direct message', async (sdk) => {
  const reply = await sdk.send('hello');
  same([reply.is, reply.role], ['message', 'agent'], 'reply');
  check(reply.text.includes('temperature'), `the help names an example: ${reply.text}`);
});

test('data part in', async (sdk) => {
  const task = await sdk.send({ data: { skill: 'watch', sensor: 'temperature', times: 2, everyMs: 0 } });
  same([task.state, readings(task).length], ['completed', 2], 'result');
});

test('file part out', async (sdk) => {
  await sdk.send('read temperature');
  const task = await sdk.send('report temperature');
  same(task.state, 'completed', 'state');
  const files = partsOf(task).filter((p) => p.file);
  same(files.map((f) => f.media), ['text/csv'], 'file parts');
  check(files[0].file.includes(',') && files[0].name, `a named csv file: ${show(files[0])}`);
});

test('send without waiting', async (sdk) => {
  let task = await sdk.send('watch temperature 3 times every 100 ms', { wait: false });
  check(['submitted', 'working'].includes(task.state), `state ${task.state}`);
  while (!TERMINAL.includes(task.state)) {
    await sleep(100);
    task = await sdk.get(task.id);
  }
  same([task.state, readings(task).length], ['completed', 3], 'result');
});

test('blocking send of more than five seconds', async (sdk) => {
  const start = Date.now();
  const task = await sdk.send('watch temperature 7 times every 1 second');
  same([task.state, readings(task).length], ['completed', 7], 'result');
  check(Date.now() - start > 5000, 'answered before the work was done');
});

test('many turns', async (sdk) => {
  const asked = await sdk.send('calibrate temperature');
  same(asked.state, 'input-required', 'state');
  check(asked.message?.role === 'agent' && asked.message.text, 'the question is in the status');
  const done = await sdk.send('21.5', { task: asked.id, context: asked.context });
  same([done.id, done.context, done.state], [asked.id, asked.context, 'completed'], 'result');
  const talk = (await sdk.get(asked.id)).history.map((m) => [m.role, m.text]);
  const want = [['user', 'calibrate temperature'], ['agent', asked.message.text], ['user', '21.5']];
  same(talk.slice(0, 3), want, 'history');
  same((await sdk.get(asked.id, 1)).history.map((m) => m.text), [talk.at(-1)[1]], 'history of one');
  same((await sdk.get(asked.id, 0)).history, [], 'history of none');
});

test('many turns without the context id', async (sdk) => {
  const asked = await sdk.send('calibrate temperature');
  const done = await sdk.send('21.5', { task: asked.id });
  same([done.context, done.state], [asked.context, 'completed'], 'result');
});

test('follow-up on a referenced task', async (sdk) => {
  const read = await sdk.send('read temperature');
  const again = await sdk.send('in fahrenheit', { context: read.context, refs: [read.id] });
  same([again.is, again.context, again.state], ['task', read.context, 'completed'], 'result');
  check(again.id !== read.id, 'a finished task never restarts');
  check(/f/i.test(readings(again)[0].unit), `unit of ${show(readings(again))}`);
});

test('get', async (sdk) => {
  const sent = await sdk.send('read temperature');
  const got = await sdk.get(sent.id);
  same([got.id, got.context, got.state], [sent.id, sent.context, sent.state], 'task');
  same(got.artifacts, sent.artifacts, 'artifacts');
  same(got.history[0]?.text, 'read temperature', 'history');
});

// Following

test('stream', async (sdk) => {
  const events = await drain(sdk.stream('watch temperature 3 times every 100 ms'));
  check(['submitted', 'working'].includes(events[0].state) && events[0].is === 'task', `first ${show(events[0])}`);
  const chunks = events.filter((e) => e.is === 'chunk');
  same(chunks.map((c) => c.append), [false, true, true], 'append');
  same(chunks.map((c) => c.last), [false, false, true], 'lastChunk');
  same(new Set(chunks.map((c) => c.artifact.id)).size, 1, 'artifact ids');
  check(chunks.every((c) => c.artifact.parts.length === 2), 'a text part and a data part in each chunk');
  endsWith(events, 'completed');
  const task = fold(events);
  readings(task).forEach(isReading);
  same(task.artifacts, (await sdk.get(task.id)).artifacts, 'folded events and the stored task');
});

test('odd characters survive', async (sdk) => {
  // U+2028, U+2029 and U+0085 end a line for some SSE readers, though not for SSE.
  const note = 'a "quote", a \\, a\nnew line, \u2028 \u2029 \u0085 \u0001, \u00b0 \u{1f321}';
  const data = { skill: 'watch', sensor: 'temperature', times: 2, everyMs: 0, note };
  const events = await drain(sdk.stream({ data }));
  endsWith(events, 'completed');
  const sent = (await sdk.get(events[0].id)).history[0].parts[0].data;
  same(sent.note, note, 'the note in the history');
});

test('stream of a direct message', async (sdk) => {
  const events = await drain(sdk.stream('hello'));
  same(events.map((e) => e.is), ['message'], 'events');
});

test('stream that is quiet for six seconds', async (sdk) => {
  const events = await drain(sdk.stream('watch temperature 2 times every 6 seconds'));
  endsWith(events, 'completed');
  same(readings(fold(events)).length, 2, 'readings');
});

test('stream closes at input-required', async (sdk) => {
  const events = await drain(sdk.stream('calibrate temperature'));
  endsWith(events, 'input-required');
  const more = await drain(sdk.stream('21.5', { task: events[0].id, context: events[0].context }));
  same(more[0].id, events[0].id, 'task');
  endsWith(more, 'completed');
});

test('resubscribe', async (sdk) => {
  const seen = await first(sdk.stream('watch temperature 20 times every 100 ms'), 2);
  await sleep(500);
  const events = await drain(sdk.resubscribe(seen[0].id));
  same(events[0].id, seen[0].id, 'task');
  check(readings(events[0]).length, 'the snapshot has the chunks that were missed');
  endsWith(events, 'completed');
  const task = fold(events);
  same(readings(task).length, 20, 'readings');
  same(task.artifacts, (await sdk.get(task.id)).artifacts, 'folded events and the stored task');
});

test('resubscribe that is quiet for six seconds', async (sdk) => {
  const task = await sdk.send('watch temperature 2 times every 6 seconds', { wait: false });
  const events = await drain(sdk.resubscribe(task.id));
  endsWith(events, 'completed');
  same(readings(fold(events)).length, 2, 'readings');
});

test('two streams of one task', async (sdk) => {
  const task = await sdk.send('watch temperature 5 times every 200 ms', { wait: false });
  const both = await Promise.all([drain(sdk.resubscribe(task.id)), drain(sdk.resubscribe(task.id))]);
  const [one, two] = both.map(fold);
  same(one.artifacts, two.artifacts, 'both folded');
  same(readings(one).length, 5, 'readings');
});

// Stopping

test('cancel', async (sdk) => {
  const task = await sdk.send('alert when temperature above 1000', { wait: false });
  check(['submitted', 'working'].includes(task.state), `state ${task.state}`);
  const canceled = await sdk.cancel(task.id);
  same([canceled.id, canceled.state], [task.id, 'canceled'], 'canceled task');
  same((await sdk.get(task.id)).state, 'canceled', 'stored state');
  await refused(sdk, () => sdk.cancel(task.id), -32002);
});

test('cancel ends the stream', async (sdk) => {
  const stream = sdk.stream('alert when temperature above 1000');
  const events = [(await stream.next()).value];
  await sdk.cancel(events[0].id);
  events.push(...(await drain(stream)));
  endsWith(events, 'canceled');
});

// Refusing

test('error: get an unknown task', (sdk) => refused(sdk, () => sdk.get('no-such-task'), -32001));

test('error: cancel an unknown task', (sdk) => refused(sdk, () => sdk.cancel('no-such-task'), -32001));

test('error: message to an unknown task', (sdk) =>
  refused(sdk, () => sdk.send('21.5', { task: 'no-such-task' }), -32001));

test('error: message to a finished task', async (sdk) => {
  const { id, context } = await sdk.send('read temperature');
  const codes = sdk.generation === '1.0' ? [-32004] : [-32004, -32600, -32602]; // 0.x leaves the code open
  await refused(sdk, () => sdk.send('again', { task: id, context }), ...codes);
});

test('error: foreign context id', async (sdk) => {
  const { id } = await sdk.send('calibrate temperature');
  await refused(sdk, () => sdk.send('21.5', { task: id, context: 'no-such-context' }), -32602);
});

test('error: no parts', (sdk) => refused(sdk, () => sdk.send([]), -32602));

test('error: negative history length', async (sdk) => {
  const { id } = await sdk.send('read temperature');
  await refused(sdk, () => sdk.get(id, -1), -32602);
});

test('error: media type the card does not name', (sdk) =>
  refused(sdk, () => sdk.send({ file: Buffer.from('\x89PNG'), media: 'image/png', name: 'a.png' }), -32005));

test('error: stream to an unknown task', (sdk) =>
  refused(sdk, () => drain(sdk.stream('21.5', { task: 'no-such-task' })), -32001));

test('error: resubscribe to an unknown task', (sdk) =>
  refused(sdk, () => drain(sdk.resubscribe('no-such-task')), -32001));

test('error: resubscribe to a finished task', async (sdk) => {
  const { id } = await sdk.send('read temperature');
  await refused(sdk, () => drain(sdk.resubscribe(id)), -32004);
}, '1.0');

test('extended card, and an error where there is none', async (sdk) => {
  const { extended, skills } = await sdk.card();
  same(!!extended, !!TOKEN, 'the card promises one, to who is known');
  if (!extended) return refused(sdk, () => sdk.extendedCard(), -32004, -32007);
  const known = skills.map(({ id }) => id);
  const all = (await sdk.extendedCard()).skills.map(({ id }) => id);
  same(all.filter((id) => !known.includes(id)), ['reboot', 'forget-wifi'], 'skills of operators');
});

// Only 1.0

test('list', async (sdk) => {
  const one = await sdk.send('read temperature');
  const { context } = one;
  const two = await sdk.send('alert when temperature above 1000', { context, wait: false });
  const all = await sdk.list({ contextId: context });
  same(all.tasks.map((t) => t.id), [two.id, one.id], 'newest first');
  same([all.total, all.next], [2, ''], 'total size and next page');
  check(!all.tasks.some((t) => t.artifacts.length), 'no artifacts unless asked for');
  const done = await sdk.list({ contextId: context, status: 'completed', includeArtifacts: true });
  same(done.tasks.map((t) => [t.id, readings(t).length]), [[one.id, 1]], 'completed ones with artifacts');
  await sdk.cancel(two.id);
  const canceled = await sdk.list({ contextId: context, status: 'canceled' });
  same(canceled.tasks.map((t) => t.id), [two.id], 'canceled ones');
  same((await sdk.list({ contextId: 'no-such-context' })).tasks, [], 'another context');
}, '1.0');

test('list in pages', async (sdk) => {
  const { id, context } = await sdk.send('read temperature');
  const ids = [id];
  while (ids.length < 5) ids.push((await sdk.send('read temperature', { context })).id);
  const got = [];
  let pageToken = '';
  for (const expected of [2, 2, 1]) {
    const page = await sdk.list({ contextId: context, pageSize: 2, pageToken });
    same([page.tasks.length, page.total], [expected, 5], 'page');
    got.push(...page.tasks.map((t) => t.id));
    pageToken = page.next;
    same(Boolean(pageToken), got.length < 5, `next page token '${pageToken}' after ${got.length}`);
  }
  same(got, ids.reverse(), 'all pages');
  for (const pageSize of [0, 101]) await refused(sdk, () => sdk.list({ pageSize }), -32602);
}, '1.0');

test('a task of this dialect read in 0.3', async (sdk) => {
  const task = await sdk.send('read temperature');
  const legacy = await sdk.speaking03();
  same((await legacy.get(task.id)).artifacts, task.artifacts, 'artifacts');
  const older = await legacy.send('read temperature');
  same((await sdk.get(older.id)).artifacts, older.artifacts, 'artifacts the other way round');
}, '1.0');

/** `connect(baseUrl)` gives the adapter. */
export async function main(connect) {
  const [, script, base, ...rest] = process.argv;
  if (!base || rest.length) {
    console.error(`usage: node ${script} BASE_URL`);
    process.exit(2);
  }
  let passed = 0;
  let failed = 0;
  const attempt = async (name, run) => {
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error(`no end after ${CASE_SECONDS} s`)), CASE_SECONDS * 1000);
    });
    try {
      const value = await Promise.race([run(), late]);
      passed++;
      console.log(`ok ${name}`);
      return value;
    } catch (error) {
      failed++;
      const reason = error.cause ? `${error.message}: ${error.cause}` : error.message;
      console.log(`FAIL ${name}: ${reason.replace(/\s+/g, ' ')}`);
    } finally {
      clearTimeout(timer);
    }
  };
  const sdk = await attempt('connect', () => connect(base));
  if (sdk)
    for (const { name, run, generations } of cases)
      if (!generations.length || generations.includes(sdk.generation)) await attempt(name, () => run(sdk));
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0); // a dropped stream of an old SDK would keep the process alive
}

// For the cases of push notifications, and for those at a shut door, which take the place of all others.
export { cases, drain, endsWith, test };
