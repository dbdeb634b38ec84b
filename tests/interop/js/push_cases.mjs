// Push notifications, for every JavaScript client: set through the SDK's own calls, received by a webhook of ours, and read
// by the SDK's own types where it has any at run time.
//
// The adapter has: setPush, getPush, listPush, deletePush; send takes `push`; and `pushed` makes a neutral shape of a
// notification's body. Environment: MOTE_WEBHOOK_HOST, where the server finds this machine's loopback (127.0.0.1). It has to
// be allowed to call it, without TLS.
//
//   hook      {url, id, token, scheme, credentials}

import { createServer } from 'node:http';
import { check, refused, same, test } from './cases.mjs';

const HOST = process.env.MOTE_WEBHOOK_HOST ?? '127.0.0.1';
const ENDED = ['completed', 'canceled', 'failed', 'rejected'];

/** Takes notifications and keeps them, while `use` runs. */
async function withWebhook(use) {
  const webhook = { notifications: [], came: () => {} };
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    webhook.notifications.push({ method: request.method, headers: request.headers, body: Buffer.concat(pieces) });
    response.end();
    webhook.came();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  webhook.url = `http://${HOST}:${server.address().port}/hook`;
  webhook.until = async (sdk, states = ENDED) => {
    for (;;) {
      const next = new Promise((done) => (webhook.came = done));
      const got = webhook.notifications.map(({ body }) => sdk.pushed(body.toString()));
      if (got.some((it) => states.includes(it.state))) return got;
      await next;
    }
  };
  try {
    await use(webhook);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The artifacts' parts that a receiver has in the end. */
function artifactsOf(got) {
  const artifacts = new Map();
  for (const it of got) {
    if (it.is === 'task') for (const { id, parts } of it.artifacts) artifacts.set(id, parts);
    if (it.is !== 'chunk') continue;
    const { id, parts } = it.artifact;
    same(it.append, artifacts.has(id), 'a chunk behind the first one of its artifact');
    artifacts.set(id, [...(artifacts.get(id) ?? []), ...parts]);
  }
  return [...artifacts.values()];
}

/** Everything was told, and is as the SDK gets it when it asks. */
async function checkAll(sdk, got, id, state = 'completed') {
  same([...new Set(got.map((it) => it.task ?? it.id))], [id], 'task');
  const task = await sdk.get(id);
  same(task.state, state, 'state');
  same(got.filter((it) => it.state).at(-1).state, state, 'the last state that was told');
  same(artifactsOf(got), task.artifacts.map((a) => a.parts), 'artifacts');
  return task.artifacts.flatMap((a) => a.parts).filter((p) => p.data !== undefined).length;
}

const LONG = 'alert when temperature above 1000';

test('push: set, get, list and delete', async (sdk) => {
  const { id } = await sdk.send(LONG, { wait: false });
  const hook = { url: 'https://a.example/hook', id: 'mine', token: 'to-know-it-by', scheme: 'Bearer', credentials: 'secret-of-it' };
  for (const got of [await sdk.setPush(id, hook), await sdk.getPush(id, 'mine')])
    same([got.url, got.id, got.scheme], [hook.url, hook.id, hook.scheme], 'configuration');
  const got = await sdk.getPush(id, 'mine');
  check(got.token !== hook.token && got.credentials !== hook.credentials, 'secrets can be read back');
  await sdk.setPush(id, { url: 'https://a.example/other', id: 'other' });
  same((await sdk.listPush(id)).map((it) => [it.id, it.url]), [['mine', hook.url], ['other', 'https://a.example/other']], 'all');
  await sdk.deletePush(id, 'mine');
  same((await sdk.listPush(id)).map((it) => it.id), ['other'], 'what is left');
  await refused(sdk, () => sdk.getPush(id, 'mine'), -32001);
  await sdk.cancel(id);
});

test('push: every event of a task, asked for when it is sent', async (sdk) => {
  await withWebhook(async (webhook) => {
    const push = { url: webhook.url, token: 'to-know-it-by', scheme: 'Bearer', credentials: 'secret-of-it' };
    const { id } = await sdk.send('watch temperature 5 times every 50 ms', { wait: false, push });
    same(await checkAll(sdk, await webhook.until(sdk), id), 5, 'readings');
    for (const { method, headers } of webhook.notifications) {
      same([method, headers['x-a2a-notification-token']], ['POST', push.token], 'method and token');
      same(headers.authorization, `Bearer ${push.credentials}`, 'authorization');
      check(headers['content-type'].includes('json'), `content type ${headers['content-type']}`);
      same(headers['x-a2a-notification-signature']?.split('.').length, 3, 'parts of the signature');
    }
  });
});

test('push: an alert, set by a client that hangs up', async (sdk) => {
  await withWebhook(async (webhook) => {
    const { id } = await sdk.send('watch temperature 4 times every 300 ms', { wait: false });
    await sdk.setPush(id, { url: webhook.url });
    const got = await webhook.until(sdk);
    same([...new Set(got.map((it) => it.task ?? it.id))], [id], 'task');
  });
  await withWebhook(async (webhook) => {
    const { id } = await sdk.send('alert when temperature above -200', { wait: false, push: { url: webhook.url } });
    same(await checkAll(sdk, await webhook.until(sdk), id), 1, 'readings');
  });
});

test('push: a task that asks, and one that is canceled', async (sdk) => {
  await withWebhook(async (webhook) => {
    const { id } = await sdk.send('calibrate temperature', { wait: false, push: { url: webhook.url } });
    await webhook.until(sdk, ['input-required']);
    await sdk.cancel(id);
    await checkAll(sdk, await webhook.until(sdk), id, 'canceled');
  });
});

test('push: what is deleted is told nothing', async (sdk) => {
  await withWebhook(async (webhook) => {
    const { id } = await sdk.send(LONG, { wait: false });
    await sdk.setPush(id, { url: webhook.url, id: 'mine' });
    await sdk.deletePush(id, 'mine');
    const before = webhook.notifications.length;
    await sdk.cancel(id);
    await new Promise((done) => setTimeout(done, 1000));
    same(webhook.notifications.length, before, 'notifications');
  });
});

test('push: error: a URL that is not allowed', async (sdk) => {
  const { id } = await sdk.send(LONG, { wait: false });
  for (const url of ['ftp://a.example/', 'http://169.254.169.254/latest', 'http://user@a.example/'])
    await refused(sdk, () => sdk.setPush(id, { url }), -32602);
  await refused(sdk, () => sdk.setPush('no-such-task', { url: 'https://a.example/' }), -32001);
  await sdk.cancel(id);
});
