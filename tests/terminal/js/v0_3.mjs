// An agent on the official JavaScript SDK 0.3.14, for the terminal to talk to. Usage: v0_3.mjs PORT

import { randomUUID } from 'node:crypto';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Words } from './words.mjs';

const port = Number(process.argv[2]);
const INTERRUPTED_OR_ENDED = ['completed', 'failed', 'canceled', 'input-required'];

const part = (content) => (typeof content === 'string' ? { kind: 'text', text: content } : { kind: 'data', data: content });
const message = (of, words) => ({ kind: 'message', ...of, messageId: randomUUID(), role: 'agent', parts: [part(words)] });
const status = (of, state, said) => ({
    state,
    ...(said === undefined ? {} : { message: message(of, said) }),
    timestamp: new Date().toISOString(),
});

const words = new Words({
    words: (said) => said.parts.map((one) => one.text ?? '').join(' '),
    message: ({ contextId }, said) => message({ contextId }, said),
    task: ({ taskId, contextId }, said, before) =>
        before
            ? undefined
            : {
                  kind: 'task',
                  id: taskId,
                  contextId,
                  status: status({ taskId, contextId }, 'submitted'),
                  history: [said],
              },
    status: (of, state, said) => ({
        kind: 'status-update',
        ...of,
        status: status(of, state, said),
        final: INTERRUPTED_OR_ENDED.includes(state),
    }),
    artifact: (of, artifactId, parts, flags) => ({
        kind: 'artifact-update',
        ...of,
        artifact: { artifactId, name: artifactId, parts: parts.map(part) },
        ...flags,
    }),
});

const card = {
    name: 'words',
    description: 'an agent of the tests',
    protocolVersion: '0.3.0',
    version: '1.0.0',
    url: `http://127.0.0.1:${port}/a2a/jsonrpc`,
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'read', name: 'Read', description: 'reads', tags: ['test'], examples: ['read temperature'] }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), words);
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1');
