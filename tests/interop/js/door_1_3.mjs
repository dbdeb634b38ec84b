// @a2a-js/sdk 1.3.0 at a shut door.

import { SecurityScheme } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  createAuthenticatingFetchWithRetry,
} from '@a2a-js/sdk/client';
import { doorMain } from './door_cases.mjs';
import { Sdk, card } from './v1_3.mjs';

class DoorSdk extends Sdk {
  static generation = '1.0';

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

  schemes({ securitySchemes, supportedInterfaces }) {
    // The schemes of a card for 0.3, too, have a `type`. The SDK hands such a card on as it came, for its user to read.
    const isHybrid = supportedInterfaces.some((i) => i.protocolVersion !== '1.0');
    const known = Object.entries(securitySchemes).map(([name, it]) => {
      const { scheme } = isHybrid && 'type' in it ? SecurityScheme.fromJSON(it) : it;
      return [name, read(scheme)];
    });
    return Object.fromEntries(known);
  }

  requirements({ securityRequirements }) {
    return securityRequirements.map(({ schemes }) => Object.keys(schemes));
  }

  async extended() {
    return (await this.client.getAgentCard()).skills.map((s) => s.id);
  }

  /** The SDK reads the body of a 401, and its error has the code that is in there. */
  unauthorized(error) {
    return /^Authentication required/.test(error.message) && error.errorResponse?.error.code === -32000;
  }
}

function read({ $case, value }) {
  if ($case === 'httpAuthSecurityScheme') return ['http', value.scheme];
  if ($case === 'apiKeySecurityScheme') return ['apiKey', value.location, value.name];
  return [$case];
}

await doorMain(DoorSdk);
