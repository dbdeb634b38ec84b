'use strict';
// The page is an A2A client like any other. What a device, a task or a log says is text, never markup: it gets into the
// page by textContent and append() alone, and a test looks for anything else.

const VERSION = '1.0';
// A device says that it is still there every 3.5 s; whoever is silent for longer than this is gone.
const PATIENCE = 9000;
const SHOWN = 60;
const CLIP = 20000;
const SPAN = 120000;

const $ = id => document.getElementById(id);
const el = (tag, props, ...kids) => {
  const made = Object.assign(document.createElement(tag), props);
  made.append(...kids);
  return made;
};
const sleep = ms => new Promise(done => setTimeout(done, ms));
const clip = (text, most = CLIP) => text.length > most ? `${text.slice(0, most)}… (${text.length - most} more characters)` : text;
const ago = ms => {
  const s = Math.max(0, Math.round(ms / 1000));
  return s < 60 ? `${s} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 129600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
};
// No crypto.randomUUID: to browsers a device without TLS is no secure place.
const fresh = () => [...crypto.getRandomValues(new Uint32Array(4))].map(n => n.toString(16)).join('-');

// ---- asking the device

class Trouble extends Error {
  constructor(kind, text, wait) {
    super(text);
    this.kind = kind;
    this.wait = wait;
  }
}

const kept = [sessionStorage, localStorage];
let token = '';
let shut;
let comeIn;
let lastSeen = Date.now();

function knock(why) {
  const tried = token;
  token = '';
  for (const place of kept) place.removeItem('token');
  $('why').textContent = why || (tried ? 'That token is not right, or not any more.' : '');
  $('forget').hidden = true;
  if (shut) return;
  shut = new Promise(done => comeIn = done);
  document.body.classList.add('shut');
  $('door').hidden = false;
  $('token').focus();
}

// Every request: a deadline of its own for each silence, no cookies, and no password box of the browser.
async function request(path, body, stop = new AbortController(), more) {
  while (shut) await shut;
  const used = token;
  const alarm = () => {
    clearTimeout(stop.timer);
    stop.timer = setTimeout(() => stop.abort(), PATIENCE);
  };
  alarm();
  const headers = { ...more };
  if (body) Object.assign(headers, { 'Content-Type': 'application/json', 'A2A-Version': VERSION });
  if (used) headers.Authorization = `Bearer ${used}`;
  try {
    const answer = await fetch(path, {
      method: body ? 'POST' : 'GET',
      headers,
      body: body && JSON.stringify(body),
      signal: stop.signal,
      credentials: 'omit',
      cache: 'no-store',
    });
    const wait = Number(answer.headers.get('Retry-After')) || 0;
    here();
    if (answer.status === 401) {
      if (used === token) knock();
      throw new Trouble('door', 'A token is needed.');
    }
    if (answer.status === 403 && token) knock('That token may not read.');
    if (wait || answer.status === 429 || answer.status === 503) throw new Trouble('busy', await said(answer), wait || 1);
    return { answer, alarm };
  } catch (trouble) {
    clearTimeout(stop.timer);
    throw trouble instanceof Trouble ? trouble : new Trouble('away', 'The device does not answer.');
  }
}

const said = async answer => {
  try {
    return (await answer.json()).error.message;
  } catch {
    return 'The device is busy.';
  }
};

async function json({ answer }, stop) {
  try {
    return await answer.json();
  } catch {
    throw new Trouble(answer.ok ? 'away' : 'no', 'The answer broke off.');
  } finally {
    clearTimeout(stop?.timer);
  }
}

async function get(path) {
  const stop = new AbortController();
  const asked = await request(path, undefined, stop);
  const document = await json(asked, stop);
  return asked.answer.ok ? document : undefined;
}

const envelope = (method, params) => ({ jsonrpc: '2.0', id: fresh(), method, params });

async function call(method, params) {
  const stop = new AbortController();
  const { result, error } = await json(await request('/', envelope(method, params), stop), stop);
  if (error) throw new Trouble('no', error.message);
  return result;
}

// One stream, to its end: each event goes to `on` with its id.
async function stream(method, params, on, stop, last) {
  const asked = await request('/', envelope(method, params), stop, last && { 'Last-Event-ID': last });
  if (!/event-stream/.test(asked.answer.headers.get('Content-Type'))) {
    const { error, result } = await json(asked, stop);
    if (error) throw new Trouble('no', error.message);
    return on(result);
  }
  const reader = asked.answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      asked.alarm();
      here();
      const frames = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = frames.pop();
      for (const frame of frames) {
        const field = name => frame.split(/\r?\n/).filter(line => line.startsWith(name)).map(line => line.slice(name.length).trim()).join('\n');
        const data = field('data:');
        if (!data) continue;
        const { result, error } = JSON.parse(data);
        if (error) throw new Trouble('no', error.message);
        on(result, field('id:'));
      }
    }
  } catch (trouble) {
    stop.abort();
    throw trouble instanceof Trouble ? trouble : new Trouble('away', 'The connection broke.');
  } finally {
    clearTimeout(stop.timer);
  }
}

const stateOf = status => (status?.state || '').replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
const isLive = state => state === 'submitted' || state === 'working';

// Follows a task until it ends or asks something, whatever the network does in between. What is full is asked again.
async function follow(id, params, on, whenHeld = () => {}, halt = {}) {
  let last;
  let state = 'submitted';
  let failures = 0;
  const see = (result, event) => {
    failures = 0;
    last = event;
    id = result.task?.id || id;
    const status = (result.task || result.statusUpdate)?.status;
    if (status) state = stateOf(status);
    if (result.message) state = 'completed';
    whenHeld('');
    on(result);
  };
  while (isLive(state) && !halt.now) {
    const stop = halt.stop = new AbortController();
    try {
      if (id) await stream('SubscribeToTask', { id }, see, stop, last);
      else await stream('SendStreamingMessage', params, see, stop);
      if (!id) return;
    } catch (trouble) {
      if (halt.now) return;
      const { kind, wait } = trouble;
      if (kind === 'busy' && failures < 20) {
        whenHeld(`${trouble.message}; trying again.`);
        // An answer is worth more than the chart, which has one of a caller's few places.
        if (halt !== liveHalt) restLive(8000);
      }
      else if (kind === 'no' && id) return on({ task: await call('GetTask', { id }) });
      else if (!id || kind === 'no' || failures > 100) throw trouble;
      else whenHeld('Interrupted; going on when the device is back.');
      await sleep(wait ? wait * 1000 : Math.min(500 * 2 ** failures, 4000));
      failures++;
    }
  }
}

// ---- showing what it says

function partsOf(parts = []) {
  const hasText = parts.some(part => part.text !== undefined);
  return parts.flatMap(part => {
    if (part.text !== undefined) return el('p', { className: 't', dir: 'auto' }, clip(part.text));
    if (part.data !== undefined) return hasText ? [] : el('pre', {}, clip(JSON.stringify(part.data, undefined, 1)));
    const name = `${part.filename || 'file'} (${part.mediaType || 'unknown type'})`;
    if (part.raw === undefined) return el('p', { className: 't' }, `${name}: ${clip(part.url || '')}`);
    if (!/^(text\/|application\/json)/.test(part.mediaType)) return el('p', { className: 't' }, `${name}, not shown`);
    const bytes = Uint8Array.from(atob(part.raw), c => c.charCodeAt(0));
    return [el('p', { className: 't faint' }, name), el('pre', { tabIndex: 0 }, clip(new TextDecoder().decode(bytes)))];
  });
}

// What there is to see of one task, kept up to date by apply(); `badge` goes where its state is to be shown.
function view() {
  const badge = el('span', { className: 'state' });
  const hint = el('p', { className: 'faint' });
  const body = el('div', { className: 'says', tabIndex: 0, role: 'group', ariaLabel: 'What was said' });
  const node = el('div', { hidden: true }, body, hint);
  let reply;
  const me = { badge, node, state: '', id: undefined, contextId: undefined, apply, hint: text => hint.textContent = text };

  function say(nodes, className = '') {
    if (!nodes.length) return;
    const low = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
    body.append(el('div', { className }, ...nodes));
    // A task may work for days, and tell of each second.
    while (body.childNodes.length > 200) body.firstChild.remove();
    if (low) body.scrollTop = body.scrollHeight;
  }
  function message({ role, parts }) {
    say(partsOf(parts), role === 'ROLE_USER' ? 'mine' : '');
  }
  function artifact({ artifactId, name, parts }, append) {
    let block = [...body.children].map(node => node.firstChild).find(node => node.of === `${artifactId}`);
    if (!block || !append) {
      block?.parentNode.remove();
      block = el('div', { of: `${artifactId}` });
      say([block]);
    }
    const low = body.scrollHeight - body.scrollTop - body.clientHeight < 40;
    block.append(...partsOf(parts.slice(-SHOWN)));
    while (block.childNodes.length > SHOWN) block.firstChild.remove();
    if (low) body.scrollTop = body.scrollHeight;
    if (!watchable) note(name || artifactId, parts);
  }
  function status(status) {
    if (!status) return;
    me.state = stateOf(status);
    badge.className = `state ${me.state}`;
    badge.textContent = me.state.replace('-', ' ');
    if (status.message) message(status.message);
    reply?.remove();
    reply = undefined;
    if (me.state.endsWith('-required')) node.append(reply = replyTo(me));
  }
  function apply({ task, message: direct, statusUpdate, artifactUpdate }) {
    node.hidden = false;
    const holder = task || statusUpdate || artifactUpdate || direct;
    me.id = task?.id || holder.taskId;
    me.contextId = holder.contextId;
    if (task) {
      body.replaceChildren();
      (task.history || []).slice(1).forEach(message);
      (task.artifacts || []).forEach(part => artifact(part));
      status(task.status);
    }
    if (direct) {
      badge.className = 'state';
      badge.textContent = 'answered';
      message(direct);
    }
    status(statusUpdate?.status);
    if (artifactUpdate) artifact(artifactUpdate.artifact, artifactUpdate.append);
  }
  return me;
}

// The answer to a question of a task. A credential travels as data, so that it is in no text that is kept.
function replyTo(task) {
  const secret = task.state === 'auth-required';
  const input = el('input', { type: secret ? 'password' : 'text', required: true, autocomplete: 'off', ariaLabel: secret ? 'Credential' : 'Reply' });
  const form = el('form', { className: 'row' }, input, el('button', {}, 'Reply'));
  form.onsubmit = event => {
    event.preventDefault();
    const parts = [secret ? { data: { credential: input.value } } : { text: input.value }];
    form.remove();
    follow(undefined, { message: { messageId: fresh(), role: 'ROLE_USER', taskId: task.id, contextId: task.contextId, parts } }, task.apply, task.hint)
      .catch(trouble => {
        task.hint(trouble.message);
        task.node.append(form);
      })
      .finally(wake);
  };
  return form;
}

const cancel = async (id, hint) => {
  try {
    await call('CancelTask', { id });
  } catch (trouble) {
    hint(trouble.message);
  }
  wake();
};

// ---- the box

let contextId;
function ask(text) {
  const shown = view();
  const button = el('button', { type: 'button', className: 'quiet' }, 'Cancel');
  const halt = {};
  button.onclick = () => {
    if (shown.id) return cancel(shown.id, shown.hint);
    halt.now = true;
    halt.stop?.abort();
    shown.hint('Given up.');
  };
  const title = el('h3', { className: 't', dir: 'auto' }, clip(text));
  $('answers').prepend(el('article', {}, el('div', { className: 'row' }, title, shown.badge, button), shown.node));
  while ($('answers').childNodes.length > 20) $('answers').lastChild.remove();
  shown.badge.textContent = 'sending';
  shown.node.hidden = false;
  const message = { messageId: fresh(), role: 'ROLE_USER', contextId, parts: [{ text }] };
  const on = result => {
    shown.apply(result);
    contextId = shown.contextId;
    if (result.task) wake();
  };
  follow(undefined, { message }, on, shown.hint, halt)
    .catch(trouble => {
      shown.badge.textContent = 'not done';
      shown.badge.className = 'state failed';
      shown.hint(trouble.kind === 'away' ? `${trouble.message} It may have heard the question all the same.` : trouble.message);
    })
    .finally(() => {
      button.remove();
      wake();
    });
}
$('asker').onsubmit = event => {
  event.preventDefault();
  ask($('ask').value);
  $('ask').value = '';
};

// ---- the tasks

const rows = new Map();
let opened;

function row(task) {
  const shown = view();
  const badge = el('span', { className: 'state' });
  const time = el('time', { className: 'faint' });
  const title = el('span', { className: 't', dir: 'auto' });
  const details = el('details', {}, el('summary', {}, badge, ' ', time, title), shown.node);
  const button = el('button', { className: 'quiet' }, 'Cancel');
  const node = el('li', {}, details, button);
  const me = { node, update, refresh, title: () => title.textContent };
  let state;
  let stamp;
  let halt;
  button.onclick = () => cancel(task.id, text => $('news').textContent = text);
  details.ontoggle = () => {
    if (details.open) {
      // One is followed at a time: a board has few readers.
      opened?.close();
      opened = me;
      refresh();
    } else me.close();
  };
  me.close = () => {
    if (halt) halt.now = true;
    halt?.stop?.abort();
    halt = undefined;
    if (opened === me) opened = undefined;
  };
  async function refresh() {
    try {
      if (isLive(state) && opened === me && !halt) {
        halt = {};
        await follow(task.id, undefined, shown.apply, shown.hint, halt);
        halt = undefined;
      } else if (!halt) shown.apply({ task: await call('GetTask', { id: task.id }) });
    } catch (trouble) {
      halt = undefined;
      shown.hint(trouble.message);
    }
  }
  function update(now) {
    const live = /^page-(.+)/.exec(now.contextId);
    const first = now.history?.[0]?.parts?.map(part => part.text ?? JSON.stringify(part.data ?? '')).join(' ');
    if (!title.textContent) title.textContent = clip(live ? `live readings of ${live[1]}` : first || now.id);
    button.ariaLabel = `Cancel: ${title.textContent.slice(0, 60)}`;
    const was = `${state}${stamp}`;
    state = stateOf(now.status);
    stamp = now.status.timestamp;
    badge.textContent = state.replace('-', ' ');
    badge.className = `state ${state}`;
    time.textContent = stamp ? `${new Date(stamp).toLocaleTimeString([], { timeStyle: 'short' })} ` : '';
    button.hidden = !isLive(state) && !state.endsWith('-required');
    // What the page asks for itself is of interest while it runs.
    node.hidden = live && !isLive(state);
    if (details.open && was !== `${state}${stamp}`) refresh();
  }
  update(task);
  return me;
}

function showTasks(tasks) {
  const there = new Set(tasks.map(task => task.id));
  for (const [id, { node, close }] of rows) {
    if (there.has(id)) continue;
    close();
    node.remove();
    rows.delete(id);
  }
  // New ones come to the top, and none moves: it may have the focus.
  for (const task of tasks.reverse()) {
    const known = rows.get(task.id);
    if (known) {
      known.update(task);
      continue;
    }
    const made = row(task);
    rows.set(task.id, made);
    $('list').prepend(made.node);
  }
  $('none').hidden = rows.size > 0;
}

// ---- live readings

const series = new Map();
const choose = $('sensor');
let watchable;
let liveHalt;
let liveFrom = 0;

function restLive(ms) {
  liveFrom = Date.now() + ms;
  if (!liveHalt) return;
  liveHalt.now = true;
  liveHalt.stop?.abort();
}

// Readings of the past come `apart` from each other: what does not say when it was made is placed by that.
function note(name, parts = [], apart = 0) {
  for (const [n, { data }] of parts.entries()) {
    if (typeof data?.value !== 'number') continue;
    const sensor = String(data.sensor ?? name).slice(0, 40);
    if (!series.has(sensor)) {
      if (series.size > 20) continue;
      series.set(sensor, []);
      offer(sensor);
    }
    const points = series.get(sensor);
    points.push({ at: Date.now() - (parts.length - 1 - n) * apart, value: data.value, unit: String(data.unit ?? '').slice(0, 12) });
    if (points.length > 1000 || points[0].at < Date.now() - 2 * SPAN) points.shift();
    if (choose.value === sensor) draw();
  }
}

function offer(name) {
  $('live').hidden = false;
  if (![...choose.options].some(option => option.value === name)) choose.append(el('option', { value: name }, name));
}
choose.onchange = () => {
  restLive(0);
  draw();
};

const svg = (tag, attributes, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  return made;
};

// Ticks at 1, 2 or 5 times a power of ten, two to five of them.
function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough) || rough;
  const places = Math.max(0, Math.min(6, -Math.floor(Math.log10(step))));
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) found.push((n * step).toFixed(places));
  return found;
}

function draw() {
  const points = series.get(choose.value) || [];
  const now = Date.now();
  const newest = points.at(-1);
  const stale = !newest || now - newest.at > 4500;
  $('live').classList.toggle('stale', stale);
  $('unit').textContent = newest?.unit || '';
  const span = Math.min(SPAN, Math.max(30000, now - points[0]?.at || 0));
  const seen = points.filter(point => point.at > now - span);
  const values = seen.map(point => point.value);
  const places = Math.max(0, ...values.map(value => (String(value).split('.')[1] || '').length));
  $('value').textContent = newest ? newest.value.toFixed(Math.min(places, 6)) : '–';
  const least = Math.min(...values);
  const most = Math.max(...values);
  let told = newest ? `Last reading ${ago(now - newest.at)} ago.` : 'Waiting for a reading.';
  if (!stale && seen.length) told = `Last ${ago(span)}: ${least} to ${most} ${newest.unit}`;
  if (held) told += ` ${held}`;
  if ($('range').textContent !== told) $('range').textContent = told;
  const chart = $('chart');
  chart.setAttribute('aria-label', [`${choose.value}:`, newest && `${newest.value} ${newest.unit}.`, told].filter(Boolean).join(' '));
  const width = chart.clientWidth;
  const height = chart.clientHeight;
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
  if (seen.length) {
    const room = Math.max((most - least) * 0.15, Math.abs(most) * 0.001, 1e-6);
    const [low, high] = [least - room, most + room];
    const x = at => 52 + (width - 60) * (1 - (now - at) / span);
    const y = value => 6 + (height - 30) * (1 - (value - low) / (high - low));
    for (const tick of ticks(low, high)) {
      drawing.append(svg('line', { x1: 52, x2: width - 8, y1: y(tick), y2: y(tick) }), svg('text', { x: 44, y: y(tick) + 4, 'text-anchor': 'end' }, tick));
    }
    for (const [at, text, anchor] of [[span, `${ago(span)} ago`, 'start'], [0, 'now', 'end']]) {
      drawing.append(svg('text', { x: x(now - at), y: height - 6, 'text-anchor': anchor }, text));
    }
    // A gap in time is a gap in the line.
    const runs = [];
    seen.forEach((point, n) => n && point.at - seen[n - 1].at < 6000 ? runs.at(-1).push(point) : runs.push([point]));
    for (const run of runs) {
      const line = run.map(({ at, value }) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('L');
      drawing.append(svg('path', { class: 'area', d: `M${line}L${x(run.at(-1).at)} ${height - 24}L${x(run[0].at)} ${height - 24}Z` }), svg('path', { d: `M${line}` }));
    }
    drawing.append(svg('circle', { cx: x(newest.at), cy: y(newest.value), r: 5 }));
  }
  chart.replaceChildren(drawing);
}

// Looks for a watch that runs already, and starts one only where there is none: two pages share one.
let held = '';
async function live() {
  for (;;) {
    let wait = 1000;
    const sensor = choose.value;
    const halt = liveHalt = {};
    if (watchable && status && sensor && !resting() && Date.now() >= liveFrom) {
      const context = `page-${sensor}`;
      const running = async () => (await call('ListTasks', { contextId: context, pageSize: 5, historyLength: 0 })).tasks.filter(task => isLive(stateOf(task.status)));
      // A board has little room for readings.
      const everyMs = small ? 2000 : 1000;
      try {
        let mine;
        const on = result => {
          if (result.task && !mine && mine !== null) {
            mine = result.task.id;
            // Two that started at the same time both stop, and look again at different times.
            running().then(tasks => tasks.some(task => task.id !== mine) && cancel(mine, () => {})).catch(() => {});
          }
          const { artifact } = result.artifactUpdate || {};
          const past = (result.task?.artifacts || []).flatMap(({ parts }) => parts).slice(-SPAN / everyMs);
          if (past.length) series.set(sensor, []);
          held = result.task && stateOf(result.task.status) === 'submitted' ? 'Waiting for its turn.' : '';
          const status = result.statusUpdate?.status;
          if (status?.message && !isLive(stateOf(status))) {
            held = clip(status.message.parts.map(part => part.text ?? part.data?.message ?? '').join(' '));
            wait = 10000;
          }
          note(sensor, artifact?.parts || past, everyMs);
        };
        const [found] = await running();
        if (found) mine = null;
        const data = { skill: 'watch', sensor, times: 300000 / everyMs, everyMs };
        const message = { messageId: fresh(), role: 'ROLE_USER', contextId: context, parts: [{ data }] };
        await follow(found?.id, { message, configuration: { acceptedOutputModes: ['application/json'] } }, on, text => held = text, halt);
        wait = Math.max(wait * !held, Math.random() * 500);
      } catch (trouble) {
        held = trouble.kind === 'away' || trouble.kind === 'door' ? '' : trouble.message;
        if (trouble.wait) wait = trouble.wait * 1000;
      }
    }
    await Promise.race([sleep(wait), new Promise(done => nudge = done)]);
  }
}
let nudge = () => {};

// A page that nobody looks at takes nobody's place for long.
let hiddenSince;
const resting = () => document.hidden && Date.now() - hiddenSince > 30000;
document.onvisibilitychange = () => {
  hiddenSince = Date.now();
  wake();
  nudge();
};

// ---- what it says about itself

const NAMES = { tasks: 'Tasks', logBlocks: 'Task log, blocks', readers: 'Followers', push: 'Webhooks', stackBytes: 'Stack, bytes', workers: 'Workers', connections: 'Connections' };
const plain = key => NAMES[key] || key.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replace(/^./, letter => letter.toUpperCase());
let small;
let status;
let statusAt = 0;

function fact(name, value) {
  if (value !== undefined && value !== '') $('facts').append(el('dt', {}, name), el('dd', {}, clip(String(value), 200)));
}

function meter(key, { used, deepest, most = deepest, all }) {
  const now = used ?? most;
  if (now === undefined) return el('p', { className: 'meter' }, el('span', {}, `${plain(key)}: `), el('span', {}, String(all)));
  const words = `${now} of ${all}` + (most > now ? `, most ${most}` : '');
  const bar = el('meter', { min: 0, max: all, high: all * 0.8, optimum: 0, value: now, ariaLabel: `${plain(key)}: ${words}` }, words);
  const box = el('div', { className: 'meter' }, el('div', { className: 'row' }, el('span', {}, plain(key)), el('span', {}, words)), bar);
  if (most > now) {
    const mark = el('i', { title: 'the most so far' });
    mark.style.left = `calc(${100 * most / all}% - 2px)`;
    box.append(mark);
  }
  return box;
}

function showStatus(now) {
  const at = Date.now();
  if (status && (now.uptimeMs < status.uptimeMs || now.uptimeMs < at - statusAt - 2000)) {
    const { reason, detail } = now.reset || {};
    $('news').textContent = [`The device started again ${ago(now.uptimeMs)} ago`, reason, detail].filter(Boolean).join(': ');
    newest = noLog = known = greeted = undefined;
    $('log').replaceChildren();
    restLive(0);
  }
  status = now;
  statusAt = at;
  small = now.tasks?.all < 100;
  $('facts').replaceChildren();
  fact('Board', now.board);
  fact('Version', now.version);
  fact('Build', typeof now.build === 'object' ? Object.values(now.build).join(' ') : now.build);
  fact('Up for', ago(now.uptimeMs));
  fact('Last start', [now.reset?.reason, now.reset?.detail].filter(Boolean).join(': '));
  fact('Its time', now.time?.replace('T', ' ').replace(/\.\d+Z/, ' UTC'));
  fact('Address', now.address);
  fact('Wi-Fi', now.wifi);
  fact('Door', now.door?.open === undefined ? undefined : now.door.open ? 'open to everybody' : 'shut');
  const tables = Object.entries(now).filter(([, table]) => typeof table?.all === 'number');
  $('meters').replaceChildren(...tables.map(([key, table]) => meter(key, table)));
}

let newest;
let noLog;
async function showLog() {
  if (noLog) return;
  const log = await get(newest === undefined ? '/log' : `/log?after=${newest}`);
  noLog = !log?.lines;
  $('journal').hidden = noLog;
  if (noLog) return;
  const list = $('log');
  const low = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const lost = newest !== undefined && log.lines.length && log.lines[0].n - newest;
  if (lost > 0) list.append(el('li', { className: 'faint' }, `${lost} lines are lost, or about others`));
  for (const { atMs, level, task, text } of log.lines) {
    const time = el('time', {}, `${(atMs / 1000).toFixed(1)} s`);
    const about = task ? ` · ${rows.get(task)?.title() || task}` : '';
    const words = el('span', { className: 't', dir: 'auto' }, clip(text), el('span', { className: 'faint' }, clip(about, 80)));
    list.append(el('li', {}, time, el('span', { className: level }, level), words));
  }
  while (list.childNodes.length > 200) list.firstChild.remove();
  if (low) list.scrollTop = list.scrollHeight;
  newest = log.next;
}

async function meet() {
  const card = await get('/.well-known/agent-card.json');
  document.title = $('name').textContent = clip(String(card.name), 100);
  $('about').textContent = clip(String(card.description), 500);
  const skills = card.skills || [];
  const examples = skills.flatMap(skill => skill.examples?.find(text => !text.startsWith('{')) || []);
  $('chips').replaceChildren(...examples.slice(0, 8).map(text => {
    const chip = el('button', { type: 'button' }, text.slice(0, 80));
    chip.onclick = () => ask(text);
    return el('li', {}, chip);
  }));
  // The sensors are what the agent says that they are: the word behind "watch", and what it answers to "hello".
  const example = skills.find(skill => skill.id === 'watch')?.examples?.map(text => /^watch (\w+)/.exec(text)?.[1]).find(Boolean);
  if (!example) return;
  offer(example);
  watchable = true;
}

async function greet() {
  const { message } = await call('SendMessage', { message: { messageId: fresh(), role: 'ROLE_USER', parts: [{ text: 'hello' }] } });
  const words = (message?.parts || []).map(part => part.text).join(' ');
  const names = /Sensors: ([^.]+)\./.exec(words)?.[1].split(', ') || [];
  names.slice(0, 20).filter(name => name !== 'none').forEach(offer);
}

// ---- one thing after the other

let awake = () => {};
const wake = () => awake();
let known;
let greeted;
let complaint = '';

function complain(text) {
  if (text !== complaint && $('news').textContent === complaint) $('news').textContent = text;
  complaint = text;
}

function here() {
  lastSeen = Date.now();
  if (document.body.className.includes('away')) nudge();
  document.body.classList.remove('away');
  document.body.classList.add('up');
  $('online').textContent = 'connected';
}

async function poll() {
  let failures = 0;
  for (;;) {
    let wait = document.hidden ? 15000 : 2000;
    try {
      if (!known) {
        await meet();
        known = true;
      }
      const now = await get('/status');
      if (now) showStatus(now);
      showTasks((await call('ListTasks', { pageSize: 50, historyLength: 5 })).tasks);
      await showLog();
      if (watchable && !greeted) {
        await greet();
        greeted = true;
      }
      complain('');
      $('forget').hidden = !token;
      failures = 0;
    } catch (trouble) {
      if (trouble.kind === 'away') {
        failures++;
        wait = Math.min(500 * 2 ** failures, 5000);
        document.body.classList.add('away');
        document.body.classList.remove('up');
        $('online').textContent = 'away';
      } else if (trouble.kind === 'busy') {
        complain(trouble.message);
        wait = trouble.wait * 1000;
      } else if (trouble.kind !== 'door') {
        complain(trouble.message);
        wait = 5000;
        if (!(trouble instanceof Trouble)) console.error(trouble);
      }
    }
    await Promise.race([sleep(wait), new Promise(done => awake = done)]);
  }
}

setInterval(() => {
  const away = document.body.className.includes('away');
  $('vital').textContent = away ? `last seen ${ago(Date.now() - lastSeen)} ago` : status ? `up for ${ago(status.uptimeMs + Date.now() - statusAt)}` : '';
  if (!document.hidden && !$('live').hidden) draw();
  if (resting()) restLive(0);
}, 1000);

$('door').onsubmit = async event => {
  event.preventDefault();
  const tried = $('token').value.trim();
  $('why').textContent = '';
  let answer;
  try {
    answer = await fetch('/status', { headers: { Authorization: `Bearer ${tried}` }, credentials: 'omit', cache: 'no-store' });
  } catch {
    $('why').textContent = /^[!-~]+$/.test(tried) ? 'The device does not answer. Try again.' : 'No token has such characters.';
    return;
  }
  $('token').select();
  if (answer.status === 401) $('why').textContent = 'That token is not right.';
  else if (!answer.ok) $('why').textContent = await said(answer);
  else {
    token = tried;
    kept[Number($('keep').checked)].setItem('token', token);
    $('token').value = '';
    $('door').hidden = true;
    document.body.classList.remove('shut');
    shut = undefined;
    comeIn();
    wake();
    nudge();
    $('ask').focus();
  }
};
$('forget').onclick = () => {
  for (const place of kept) place.removeItem('token');
  location.reload();
};

token = kept[0].getItem('token') || kept[1].getItem('token') || '';
poll();
live();
