// @a2a-js/sdk 0.3.14 at a shut door.

import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  createAuthenticatingFetchWithRetry,
} from '@a2a-js/sdk/client';
import { doorMain } from './door_cases.mjs';
import { Sdk, card } from './v0_3.mjs';

class DoorSdk extends Sdk {
  static generation = '0.3';

  static async enter(base, fetchImpl, handler) {
    const sdk = new DoorSdk();
    sdk.base = base;
    sdk.agentCard = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base);
    const authenticating = createAuthenticatingFetchWithRetry(fetchImpl, handler);
    const transports = [new JsonRpcTransportFactory({ fetchImpl: authenticating })];
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports });
    sdk.client = await new ClientFactory(options).createFromAgentCard(sdk.agentCard);
    return sdk;
  }

  async card() {
    return card(this.agentCard);
  }

  schemes({ securitySchemes }) {
    return Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, read(scheme)]));
  }

  requirements({ security }) {
    return security.map(Object.keys);
  }

  async extended() {
    return (await this.client.getAgentCard()).skills.map((s) => s.id);
  }

  /** The SDK reads the body of a 401, and its error has the code that is in there; that of a stream is only a text. */
  unauthorized(error) {
    if (/: 401 Unauthorized\. RPC Error: Authentication required.*-32000/.test(error.message)) return true;
    return /Authentication required/.test(error.message) && error.errorResponse?.error.code === -32000;
  }
}

function read(scheme) {
  if (scheme.type === 'http') return ['http', scheme.scheme];
  if (scheme.type === 'apiKey') return ['apiKey', scheme.in, scheme.name];
  return [scheme.type];
}

await doorMain(DoorSdk);
