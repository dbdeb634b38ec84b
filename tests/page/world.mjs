// What the cases stand on: devices that are started and ended by their process, somebody else who asks them, and a browser
// that takes note of everything that a page should not do.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';

export const CACHE = process.env.MOTE_PAGE_CACHE;
const load = createRequire(`${CACHE}/package.json`);
const { chromium } = load('playwright-core');
export const AXE = load.resolve('axe-core/axe.min.js');

export const TOKEN = 'the-token-of-the-page-tests';

/// Waits for something to be true, and says what it waited for.
export async function until(what, check, ms = 30000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise(done => setTimeout(done, 50));
  }
}

/// A host-sim of its own, and somebody else who asks it.
export class Device {
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  static async start(...flags) {
    const device = new Device();
    device.flags = flags;
    await device.begin(0);
    return device;
  }

  async begin(port) {
    const env = { ...process.env };
    delete env.MOTE_TOKEN;
    this.process = spawn(process.env.MOTE_SIM, ['--port', String(port), ...this.flags], { env });
    let said = '';
    this.process.stdout.on('data', text => said += text);
    this.process.stderr.on('data', text => said += text);
    this.url = await until('a device that listens', () => {
      if (this.process.exitCode !== null) throw new Error(said);
      return /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
    });
    const token = this.flags.indexOf('--token');
    if (token >= 0) this.token = this.flags[token + 1].split(':')[2];
  }

  async end() {
    if (!this.process || this.process.exitCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill();
    await ended;
  }

  async again() {
    await this.begin(new URL(this.url).port);
  }

  /// A call on a connection of its own, which is not kept: a board has five for one address, and the page has some of them.
  /// Where somebody is busy it is made again, as pages that were closed take a moment to be missed.
  async call(method, params, isPatient = true) {
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const once = () =>
      new Promise((done, fail) => {
        const request = http.request(this.url, { method: 'POST', headers, agent: false }, async answer => {
          const pieces = [];
          for await (const piece of answer) pieces.push(piece);
          done({ isBusy: 'retry-after' in answer.headers, ...JSON.parse(Buffer.concat(pieces)) });
        });
        request.on('error', fail);
        request.end(body);
      });
    let said;
    const answered = async () => !(said = await once()).isBusy;
    if (isPatient) await until(`an answer to ${method}`, answered);
    else await answered();
    if (said.error) throw new Error(said.error.message);
    return said.result;
  }

  /// Somebody else asks, and does not wait.
  async ask(text, isPatient) {
    const message = { messageId: `other-${Math.random()}`, role: 'ROLE_USER', parts: [{ text }] };
    const { task } = await this.call('SendMessage', { message, configuration: { returnImmediately: true } }, isPatient);
    return task;
  }

  /// Somebody else asks, and keeps listening.
  async hold(text) {
    const message = { messageId: `other-${Math.random()}`, role: 'ROLE_USER', parts: [{ text }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const request = http.request(this.url, { method: 'POST', headers, agent: false });
    request.end(body);
    const [answer] = await once(request, 'response');
    await once(answer, 'data');
    return answer;
  }

  async running(contextId) {
    const { tasks } = await this.call('ListTasks', { contextId });
    return tasks.filter(({ status }) => /SUBMITTED|WORKING/.test(status.state));
  }
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-proxy-server',
  // A name that is no secure place to a browser, as a device's is.
  '--host-resolver-rules=MAP mote.test 127.0.0.1',
];

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args: FLAGS });
    return browser;
  }

  async end() {
    await this.chromium.close();
  }

  async context(options = {}) {
    const context = await this.chromium.newContext({ viewport: { width: 1200, height: 860 }, ...options });
    context.setDefaultTimeout(30000);
    return context;
  }

  /// Opens the page of a device. `page.faults` has whatever it does wrong.
  async open(url, options, context) {
    const page = await (context ?? (await this.context(options))).newPage();
    page.faults = [];
    // A device that is away, or that says no, is in the console by Chromium's own hand.
    const isExpected = text => /Failed to load resource: (net::ERR_|the server responded with a status of (401|429|503))/.test(text);
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type()) && !isExpected(message.text())) page.faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', error => page.faults.push(`error: ${error.stack}`));
    page.on('dialog', dialog => {
      page.faults.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', request => {
      const to = new URL(request.url());
      if (to.origin !== new URL(url).origin && to.protocol !== 'data:') page.faults.push(`request to ${request.url()}`);
    });
    await page.addInitScript(() => {
      window.violations = [];
      document.addEventListener('securitypolicyviolation', event => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    await page.goto(url);
    return page;
  }
}

/// Nothing went wrong on a page, up to now.
export async function blameless(page) {
  const violations = await page.evaluate(() => window.violations);
  const faults = [...page.faults, ...violations];
  if (faults.length) throw new Error(faults.join('\n'));
}

/// A cable to a device, to be pulled.
export async function cable(url) {
  const ends = new Set();
  const server = net.createServer(near => {
    const far = net.connect(Number(new URL(url).port), '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]]) {
      ends.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pull = () => ends.forEach(end => end.resetAndDestroy());
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    pull,
    end: () => {
      server.close();
      pull();
    },
  };
}

/// Every byte that comes back when a browser asks for the page.
export async function wire(url) {
  const { hostname, port, host } = new URL(url);
  const socket = net.connect(Number(port || 80), hostname);
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n` +
      'Accept-Encoding: gzip, deflate\r\nAccept-Language: en\r\n\r\n',
  );
  const pieces = [];
  for await (const piece of socket) pieces.push(piece);
  return Buffer.concat(pieces);
}

export const value = page => page.textContent('#value');
export const answer = (page, words) => page.locator('#answers article').filter({ hasText: words }).first();

/// Writes a question and sends it with Enter.
export async function ask(page, words) {
  await page.fill('#ask', words);
  await page.press('#ask', 'Enter');
  return answer(page, words);
}

export async function comeIn(page, token) {
  await page.fill('#token', token);
  await page.press('#token', 'Enter');
}
