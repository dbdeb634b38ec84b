// @a2a-js/sdk 0.3.14, which speaks 0.3.

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { check, fetching, main } from './cases.mjs';

/** The SDK's default, or with what it sends a token with. */
function factory() {
  if (!fetching) return new ClientFactory();
  const transports = [new JsonRpcTransportFactory(fetching)];
  return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
}

class Sdk {
  generation = '0.3';

  static async connect(base) {
    const sdk = new Sdk();
    sdk.base = base;
    sdk.client = await factory().createFromUrl(base);
    return sdk;
  }

  async card(path) {
    return card(await new DefaultAgentCardResolver().resolve(this.base, path));
  }

  async send(what, { wait = true, push, ...more } = {}) {
    const pushNotificationConfig = push && webhook(push);
    const configuration = wait ? undefined : { blocking: false, pushNotificationConfig };
    return neutral(await this.client.sendMessage({ message: newMessage(what, more), configuration }));
  }

  async *stream(what, more) {
    for await (const event of this.client.sendMessageStream({ message: newMessage(what, more) })) yield neutral(event);
  }

  async *resubscribe(id) {
    for await (const event of this.client.resubscribeTask({ id })) yield neutral(event);
  }

  async get(id, historyLength) {
    return neutral(await this.client.getTask({ id, historyLength }));
  }

  async cancel(id) {
    return neutral(await this.client.cancelTask({ id }));
  }

  async setPush(taskId, push) {
    return hook(await this.client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: webhook(push) }));
  }

  async getPush(id, pushNotificationConfigId) {
    return hook(await this.client.getTaskPushNotificationConfig({ id, pushNotificationConfigId }));
  }

  async listPush(id) {
    return (await this.client.listTaskPushNotificationConfig({ id })).map(hook);
  }

  async deletePush(id, pushNotificationConfigId) {
    await this.client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId });
  }

  /** The types of this SDK are gone at run time. */
  pushed(body) {
    const task = JSON.parse(body);
    check(task.kind === 'task', `the kind is ${task.kind}`);
    return neutral(task);
  }

  extendedCard() {
    // Without the capability the client gives back the card it has; its transport asks the server.
    return this.client.transport.getExtendedAgentCard();
  }

  code(error) {
    // An error inside a stream is a plain one with the typed one as its cause.
    return (error.errorResponse ?? error.cause?.errorResponse)?.error.code;
  }
}

function webhook({ scheme, credentials, ...more }) {
  return { ...more, authentication: scheme && { schemes: [scheme], credentials } };
}

function hook({ pushNotificationConfig: { url, id, token, authentication } }) {
  return { url, id, token, scheme: authentication?.schemes[0], credentials: authentication?.credentials };
}

function newMessage(what, { task, context, refs } = {}) {
  let parts = what;
  if (typeof what === 'string') parts = [{ kind: 'text', text: what }];
  else if (what.data) parts = [{ kind: 'data', data: what.data }];
  else if (what.file) {
    const file = { bytes: what.file.toString('base64'), mimeType: what.media, name: what.name };
    parts = [{ kind: 'file', file }];
  }
  const ids = { messageId: randomUUID(), taskId: task, contextId: context, referenceTaskIds: refs };
  return { kind: 'message', role: 'user', parts, ...ids };
}

function neutral(it) {
  const ids = { task: it.taskId, context: it.contextId };
  switch (it.kind) {
    case 'task':
      return {
        is: 'task',
        id: it.id,
        context: it.contextId,
        state: it.status.state,
        message: it.status.message && neutral(it.status.message),
        artifacts: (it.artifacts ?? []).map(artifact),
        history: (it.history ?? []).map(neutral),
      };
    case 'message': {
      const parts = it.parts.map(part);
      return { is: 'message', role: it.role, parts, text: parts.flatMap((p) => p.text ?? []).join(' '), ...ids };
    }
    case 'status-update':
      return { is: 'status', ...ids, state: it.status.state, final: it.final };
    case 'artifact-update':
      return { is: 'chunk', ...ids, artifact: artifact(it.artifact), append: !!it.append, last: !!it.lastChunk };
  }
  throw new Error(`an unknown kind: ${JSON.stringify(it)}`);
}

const artifact = (it) => ({ id: it.artifactId, name: it.name, parts: it.parts.map(part) });

function part(it) {
  if (it.kind !== 'file') return { [it.kind]: it[it.kind] };
  return { file: Buffer.from(it.file.bytes, 'base64'), media: it.file.mimeType, name: it.file.name };
}

const card = (it) => ({
  name: it.name,
  description: it.description,
  version: it.version,
  url: it.url,
  streaming: it.capabilities.streaming,
  push: it.capabilities.pushNotifications,
  extended: it.supportsAuthenticatedExtendedCard,
  inputs: it.defaultInputModes,
  outputs: it.defaultOutputModes,
  skills: it.skills,
});

// A script for a shut door builds on these, and has cases of its own.
export { Sdk, card };

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await import('./push_cases.mjs');
  await main(Sdk.connect);
}
