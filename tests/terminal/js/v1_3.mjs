// An agent on the official JavaScript SDK 1.3.0, for the terminal to talk to. Usage: v1_3.mjs PORT

import { randomUUID } from 'node:crypto';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Words } from './words.mjs';

const port = Number(process.argv[2]);
const STATES = { submitted: 1, working: 2, completed: 3, failed: 4, canceled: 5, 'input-required': 6 };
const ROLE_AGENT = 2;

const part = (content) => ({
    content: typeof content === 'string' ? { $case: 'text', value: content } : { $case: 'data', value: content },
    metadata: undefined,
    filename: '',
    mediaType: '',
});
const message = (of, words) => ({
    ...of,
    messageId: randomUUID(),
    role: ROLE_AGENT,
    parts: [part(words)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
});
const status = (of, state, said) => ({
    state: STATES[state],
    message: said === undefined ? undefined : message(of, said),
    timestamp: new Date().toISOString(),
});

const words = new Words({
    words: (said) => said.parts.map((one) => (one.content?.$case === 'text' ? one.content.value : '')).join(' '),
    message: (of, said) => AgentEvent.message({ ...message(of, said), taskId: '' }),
    // Here every stream begins with the task, also one that goes on with it.
    task: ({ taskId, contextId }, said, before) =>
        AgentEvent.task(
            before ?? {
                id: taskId,
                contextId,
                status: status({ taskId, contextId }, 'submitted'),
                artifacts: [],
                history: [said],
                metadata: undefined,
            },
        ),
    status: (of, state, said) => AgentEvent.statusUpdate({ ...of, status: status(of, state, said), metadata: undefined }),
    artifact: (of, artifactId, parts, { append = false, lastChunk = false }) =>
        AgentEvent.artifactUpdate({
            ...of,
            artifact: { artifactId, name: artifactId, description: '', parts: parts.map(part), metadata: undefined, extensions: [] },
            append,
            lastChunk,
            metadata: undefined,
        }),
});

const card = {
    name: 'words',
    description: 'an agent of the tests',
    version: '1.0.0',
    supportedInterfaces: [
        { url: `http://127.0.0.1:${port}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
        {
            id: 'read',
            name: 'Read',
            description: 'reads',
            tags: ['test'],
            examples: ['read temperature'],
            inputModes: [],
            outputModes: [],
            securityRequirements: [],
        },
    ],
    signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), words);
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, '127.0.0.1');
