// What must be true for every JavaScript client at a door that is shut.
//
// A script per SDK (door_1_3.mjs, door_0_3.mjs) gives an adapter whose transport goes through the SDK's own
// createAuthenticatingFetchWithRetry: the first call has no token and gets 401, the handler looks at WWW-Authenticate,
// finds a scheme that it has a token for, and the SDK tries again.
//
// MOTE_TOKEN may do everything and belongs to MOTE_NAME (owner); MOTE_OTHER_TOKEN may only read.

import { cases, check, drain, endsWith, main, refused, same, test } from './cases.mjs';

// Only the cases below: those for a door that is open have scripts of their own.
cases.length = 0;

const { MOTE_TOKEN: OWNER, MOTE_OTHER_TOKEN: READER, MOTE_NAME: OWNER_NAME = 'owner' } = process.env;
const NOBODY = 'a-token-that-nobody-has';
const LONG = 'alert when temperature above 1000';
check(OWNER && READER, 'MOTE_TOKEN and MOTE_OTHER_TOKEN are not set');

const basic = (token) => `Basic ${Buffer.from(`${OWNER_NAME}:${token}`).toString('base64')}`;

/** What a challenge of a scheme is met with. */
const ANSWERS = {
  bearer: (token) => ({ Authorization: `Bearer ${token}` }),
  basic: (token) => ({ Authorization: basic(token) }),
  apikey: (token, { header }) => ({ [header]: token }),
};

/** The challenges of a WWW-Authenticate that fetch has joined: scheme in lower case, and its parameters. */
function challenges(value) {
  const all = {};
  let last;
  for (const [, scheme, name, text] of value.matchAll(/(?:^|,)\s*([\w-]+)\s+(?=[\w-]+=)|([\w-]+)="([^"]*)"/g))
    if (scheme) last = all[scheme.toLowerCase()] = {};
    else last[name.toLowerCase()] = text;
  return all;
}

/** The SDK's AuthenticationHandler, for one who has a token for one of the schemes, or no token at all. */
class Keys {
  kept = {}; // what is shown without being asked for

  constructor(scheme, token) {
    Object.assign(this, { scheme, token });
  }

  headers = async () => this.kept;

  shouldRetryWithHeaders = async (request, response) => {
    if (response.status !== 401 || !this.token) return undefined;
    const offered = challenges(response.headers.get('WWW-Authenticate') ?? '');
    return this.scheme in offered ? ANSWERS[this.scheme](this.token, offered[this.scheme]) : undefined;
  };

  onSuccessfulRetry = async (headers) => {
    this.kept = headers;
  };
}

/** A fetch that remembers the credentials of every call, its status, and everything that came back. */
class Wire {
  calls = [];
  received = [];

  fetch = async (url, init) => {
    const response = await fetch(url, init);
    const headers = new Headers(init?.headers);
    const shown = ['authorization', 'x-api-key'].flatMap((name) => headers.get(name) ?? []);
    if (init?.method === 'POST') this.calls.push([response.status, ...shown]);
    this.received.push(JSON.stringify([...response.headers]));
    if (response.body) this.received.push(response.clone().text().catch(() => ''));
    return response;
  };

  /** Every body to its end: a stream that is still open would keep us waiting. */
  text = async () => (await Promise.all(this.received)).join('\n');

  take = () => this.calls.splice(0);
}

class Door {
  wire = new Wire();

  constructor(adapter, base) {
    Object.assign(this, { adapter, base, generation: adapter.generation });
  }

  enter(scheme, token, kept = {}) {
    return this.adapter.enter(this.base, this.wire.fetch, Object.assign(new Keys(scheme, token), { kept }));
  }
}

/** Runs the cases for an adapter with `enter(base, fetch, authenticationHandler)`. */
export const doorMain = (adapter) =>
  main(async (base) => {
    const door = new Door(adapter, base);
    door.owner = await door.enter('bearer', OWNER);
    door.reader = await door.enter('bearer', READER);
    return door;
  });

/** Whoever this is gets HTTP 401, whatever the call, and what the SDK makes of it. */
async function turnedAway(door, sdk, ...tries) {
  for (const [what, call] of Object.entries({
    send: () => sdk.send('read temperature'),
    stream: () => drain(sdk.stream('read temperature')),
    get: () => sdk.get('no-such-task'),
    cancel: () => sdk.cancel('no-such-task'),
    'extended card': () => sdk.extended(),
  })) {
    door.wire.take();
    let got;
    try {
      got = await call();
    } catch (error) {
      same(sdk.unauthorized(error), true, `${what}: the SDK's error for 401, not ${error.name}: ${error.message}`);
      same(door.wire.take(), tries, `${what}: what was tried`);
      continue;
    }
    throw new Error(`${what}: no error, but ${JSON.stringify(got)}`);
  }
}

/** Whoever this is may do everything, and finds out how at the first call, unless it knows. */
async function everythingWorks(door, sdk, shown, ...before) {
  door.wire.take();
  const skills = await sdk.extended();
  check(skills.includes('reboot'), `the extended card has no skills of the operator: ${skills}`);
  same(door.wire.take(), [...before, [200, shown]], 'tries of the first call');
  const done = await sdk.send('set led on');
  same(done.state, 'completed', 'state of an act');
  same((await sdk.get(done.id)).state, 'completed', 'what get says');
  endsWith(await drain(sdk.stream('watch temperature 2 times every 50 ms')), 'completed');
  const waiting = await sdk.send(LONG, { wait: false });
  if (sdk.generation === '1.0') {
    const { tasks } = await sdk.list({ contextId: waiting.context });
    same(tasks.map((t) => t.id), [waiting.id], 'list');
  }
  same((await sdk.cancel(waiting.id)).state, 'canceled', 'cancel');
  const later = door.wire.take();
  check(later.length >= 5, 'little was asked: this case is out of date');
  for (const call of later) same(call, [200, shown], 'a later call');
}

async function secretFree(door, ...events) {
  for (const [what, text] of [['an event', JSON.stringify(events)], ['an answer', await door.wire.text()]])
    for (const token of [OWNER, READER, NOBODY]) check(!text.includes(token), `a token is in ${what}`);
}

// The card

test('the card is public, and its schemes are understood', async (door) => {
  const stranger = await door.enter();
  const want = { bearer: ['http', 'Bearer'], apiKey: ['apiKey', 'header', 'X-API-Key'], basic: ['http', 'Basic'] };
  same(stranger.schemes(stranger.agentCard), want, 'schemes');
  same(stranger.requirements(stranger.agentCard), [['bearer'], ['apiKey'], ['basic']], 'one of them is enough');
  const card = await stranger.card();
  same(card.extended, true, 'the promise of an extended card');
  const skills = card.skills.map((s) => s.id);
  check(skills.includes('read') && !skills.includes('reboot'), `public skills ${skills}`);
  const extended = await door.owner.client.getAgentCard();
  same(door.owner.schemes(extended), want, 'schemes of the extended card');
});

// Tokens

test('no token', async (door) => turnedAway(door, await door.enter(), [401]));

test('a token for a scheme that is not offered', async (door) =>
  turnedAway(door, await door.enter('digest', OWNER), [401]));

test('a wrong bearer token', async (door) =>
  turnedAway(door, await door.enter('bearer', NOBODY), [401], [401, `Bearer ${NOBODY}`]));

test('a wrong API key', async (door) => turnedAway(door, await door.enter('apikey', NOBODY), [401], [401, NOBODY]));

test('a bearer token', async (door) =>
  everythingWorks(door, await door.enter('bearer', OWNER), `Bearer ${OWNER}`, [401]));

test('an API key', async (door) => everythingWorks(door, await door.enter('apikey', OWNER), OWNER, [401]));

// A browser would ask its person for a password, so what runs in one is not told about Basic. fetch in Node says of
// itself what fetch in a browser says: it has to know.
test('HTTP Basic is not offered to scripts', async (door) =>
  turnedAway(door, await door.enter('basic', OWNER), [401]));

test('HTTP Basic', async (door) =>
  everythingWorks(door, await door.enter('', '', { Authorization: basic(OWNER) }), basic(OWNER)));

test('HTTP Basic with a wrong password', async (door) =>
  turnedAway(door, await door.enter('', '', { Authorization: basic(NOBODY) }), [401, basic(NOBODY)]));

test('a stream as the first call', async (door) => {
  const sdk = await door.enter('bearer', OWNER);
  endsWith(await drain(sdk.stream('watch temperature 2 times every 50 ms')), 'completed');
});

// What a reader may

test('the extended card of a reader', async (door) => {
  const skills = await door.reader.extended();
  check(skills.includes('read') && !skills.includes('reboot'), `skills ${skills}`);
});

test('a reader reads', async (door) => same((await door.reader.send('read temperature')).state, 'completed', 'state'));

test('a reader is asked for a credential in the middle of a task', async (door) => {
  const sdk = door.reader;
  const asked = await sdk.send('set led on');
  same(asked.state, 'auth-required', 'state');
  const said = asked.message.parts.flatMap((p) => (p.data ? [p.data.schemes] : []));
  same(said, [['Bearer']], 'what is asked for');
  const follow = { task: asked.id, context: asked.context };
  for (const credential of [NOBODY, READER])
    same((await sdk.send({ data: { credential } }, follow)).state, 'auth-required', 'state after a token that may not');
  const done = await sdk.send({ data: { credential: OWNER } }, follow);
  same([done.id, done.state], [asked.id, 'completed'], 'result');
  const task = await sdk.get(asked.id);
  const shown = task.history.filter((m) => m.role === 'user').flatMap((m) => m.parts.flatMap((p) => p.data ?? []));
  same(shown, Array(3).fill({ credential: null }), 'what is left of the credentials');
  await secretFree(door, asked, done, task);
  same((await sdk.send('set led off')).state, 'auth-required', 'the next task: a credential is lent to one');
});

test('the same as a stream', async (door) => {
  const events = await drain(door.reader.stream('set led off'));
  endsWith(events, 'auth-required');
  const [{ id, context }] = events;
  const more = await drain(door.reader.stream({ data: { credential: OWNER } }, { task: id, context }));
  same(more[0].id, id, 'task');
  endsWith(more, 'completed');
  await secretFree(door, events, more);
});

test("somebody else's task is not there", async (door) => {
  const sdk = door.reader;
  const task = await door.owner.send(LONG, { wait: false });
  for (const id of [task.id, 'no-such-task']) {
    await refused(sdk, () => sdk.get(id), -32001);
    await refused(sdk, () => sdk.cancel(id), -32001);
    await refused(sdk, () => drain(sdk.resubscribe(id)), -32001);
    await refused(sdk, () => sdk.send('more', { task: id }), -32001);
  }
  if (sdk.generation === '1.0') same((await sdk.list({ contextId: task.context })).tasks, [], 'list');
  same((await door.owner.get(task.id)).state, 'working', 'state');
  same((await door.owner.cancel(task.id)).state, 'canceled', 'cancel by the owner');
});

// The last one

test('no token in anything that was received', async (door) => {
  check((await door.wire.text()).length > 10_000, 'little was received: this case is out of date');
  await secretFree(door);
});
