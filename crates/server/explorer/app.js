// The page at /: shows what /openapi says, and sends the requests that are typed. Everything that comes from the
// database is put in as text, never as markup.
'use strict';

const ROWS_SHOWN = 20;       // tables beyond which a search field helps
const ANSWER_MAX = 200000;   // limit: characters of an answer that are shown

const at = (id) => document.getElementById(id);
const state = { description: null, headers: {} };

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'click') made.addEventListener('click', value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/// What is related to whom, by table: foreign keys lead away, `x-referenced` leads here.
function columnsOf(table) {
  const schemas = (state.description.components || {}).schemas || {};
  const response = (kind) => (state.description.paths[table.path] || state.description.paths[`${table.path}/{id}`] || {})[kind];
  const operation = response('get');
  const reference = operation && operation.responses['200'].$ref.split('/').pop();
  const schema = schemas[reference];
  if (!schema) return {};
  const list = schema.properties && schema.properties.records;
  return (list ? list.items.properties : schema.properties) || {};
}

function tables() {
  const found = new Map();
  for (const [path, methods] of Object.entries(state.description.paths || {})) {
    const match = /^\/records\/([^/]+)(\/\{id\})?$/.exec(path);
    if (!match) continue;
    const operations = Object.values(methods);
    const name = operations.length ? operations[0].tags[0] : decodeURIComponent(match[1]);
    const table = found.get(name) || { name, path: `/records/${match[1]}`, operations: [] };
    for (const operation of operations) table.operations.push(operation.operationId.split('_')[0]);
    found.set(name, table);
  }
  return [...found.values()];
}

function showTables() {
  const all = tables();
  const list = at('table-list');
  list.replaceChildren();
  for (const table of all) {
    const details = element('details', { 'data-table': table.name },
      element('summary', {}, element('strong', {}, table.name),
        element('span', { class: 'faint' }, table.operations.join(', '))));
    // Filled when it is opened: a database may have thousands.
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) details.append(inside(table));
    });
    list.append(details);
  }
  if (all.length === 0) list.append(element('p', {}, 'There is no table that you may see.'));
  if (all.length === 1) list.firstElementChild.open = true;
  at('search-label').hidden = all.length <= ROWS_SHOWN;
  return all;
}

function inside(table) {
  const rows = [];
  const relations = [];
  for (const [name, column] of Object.entries(columnsOf(table))) {
    const notes = [];
    if (column['x-primary-key']) notes.push('key');
    if (column.nullable) notes.push('may be null');
    if (column['x-references']) {
      notes.push(`→ ${column['x-references']}`);
      relations.push([`${name} leads to ${column['x-references']}`, column['x-references']]);
    }
    for (const reference of column['x-referenced'] || []) {
      const other = reference.slice(0, reference.lastIndexOf('.'));
      relations.push([`${reference} leads here`, other]);
    }
    rows.push(element('tr', {}, element('td', {}, element('code', {}, name)),
      element('td', {}, column['x-type'] || ''),
      element('td', { class: 'faint' }, notes.join(', '))));
  }
  const head = element('tr', {}, element('th', { scope: 'col' }, 'Column'), element('th', { scope: 'col' }, 'Type'),
    element('th', { scope: 'col' }, 'Notes'));
  const made = element('div', { class: 'inside' }, element('div', { class: 'scroll' },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows))));
  if (relations.length) {
    const items = relations.map(([text, other]) => element('li', {}, `${text} `,
      element('button', { class: 'small', type: 'button', click: () => open(other) }, `open ${other}`)));
    made.append(element('ul', { 'aria-label': `Relations of ${table.name}` }, ...items));
  }
  made.append(element('div', { class: 'actions' }, ...examples(table, relations)));
  return made;
}

/// Requests that work whatever the rows are.
function examples(table, relations) {
  const button = (label, method, path, body) =>
    element('button', { class: 'small', type: 'button', click: () => prepare(method, path, body) }, label);
  const all = [];
  if (table.operations.includes('list')) {
    all.push(button('List', 'GET', `${table.path}?page=1,10`));
    const related = relations.map(([, other]) => other).find((other) => other !== table.name && !/[,!]/.test(other));
    if (related) all.push(button(`List with ${related}`, 'GET', `${table.path}?join=${encodeURIComponent(related)}&page=1,3`));
  }
  if (table.operations.includes('create')) {
    const schemas = state.description.components.schemas;
    const operation = state.description.paths[table.path].post;
    const schema = schemas[operation.requestBody.$ref.split('/').pop()];
    const record = {};
    for (const [name, column] of Object.entries((schema && schema.properties) || {})) {
      if (column['x-primary-key']) continue;
      const type = [].concat(column.type)[0];
      record[name] = column.nullable ? null : type === 'boolean' ? false : type === 'string' ? '' : 0;
    }
    all.push(button('Create', 'POST', table.path, JSON.stringify(record, null, 2)));
  }
  return all;
}

function open(name) {
  const details = [...document.querySelectorAll('details[data-table]')].find((one) => one.dataset.table === name);
  if (!details) return;
  details.classList.remove('hidden');
  details.open = true;
  details.querySelector('summary').focus();
}

function prepare(method, path, body) {
  at('method').value = method;
  at('path').value = path;
  at('body').value = body || '';
  showBody();
  at('try').scrollIntoView();
  at('send').focus();
}

function showBody() {
  at('body-label').hidden = !['POST', 'PUT', 'PATCH'].includes(at('method').value);
}

async function send(event) {
  event.preventDefault();
  const method = at('method').value;
  // Below the page, whatever the path prefix is; never another site.
  const path = at('path').value.trim().replace(/^\/+/, '');
  const status = at('status');
  const answer = at('answer');
  status.className = '';
  status.textContent = 'Waiting…';
  const options = { method, headers: { Accept: 'application/json', ...state.headers }, cache: 'no-store' };
  if (!at('body-label').hidden) {
    options.body = at('body').value;
    options.headers['Content-Type'] = 'application/json';
  }
  const start = performance.now();
  try {
    const response = await fetch(new URL(`./${path}`, document.baseURI), options);
    const text = await response.text();
    const time = performance.now() - start;
    status.className = response.ok ? '' : 'bad';
    status.textContent =
      `${response.status} ${response.statusText} · ${time.toFixed(1)} ms · ${new Blob([text]).size} bytes`;
    answer.textContent = pretty(text);
    answer.hidden = false;
  } catch (error) {
    status.className = 'bad';
    status.textContent = `The request was not answered: ${error.message}`;
    answer.hidden = true;
  }
}

/// JSON on several lines. Numbers beyond what JavaScript keeps would change, so such a text stays as it came.
function pretty(text) {
  let shown = text;
  if (!/[0-9]{16}/.test(text)) {
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // It is no JSON: it is shown as it came.
    }
  }
  return shown.length > ANSWER_MAX ? `${shown.slice(0, ANSWER_MAX)}\n… cut here` : shown;
}

async function load() {
  const summary = at('summary');
  try {
    const response = await fetch(new URL('./openapi', document.baseURI), { headers: state.headers });
    if (!response.ok) {
      const refused = await response.json().catch(() => ({ message: response.statusText }));
      summary.textContent = `${response.status}: ${refused.message}. Sign in below.`;
      at('login').hidden = false;
      return;
    }
    state.description = await response.json();
  } catch (error) {
    summary.textContent = `The description of the API cannot be read: ${error.message}`;
    return;
  }
  const info = state.description.info || {};
  document.title = info.title || 'Rowcast';
  at('title').textContent = document.title;
  at('login').hidden = !(state.description.paths || {})['/login'];
  const all = showTables();
  const overview = await fetch(new URL('./', document.baseURI), { headers: { Accept: 'application/json', ...state.headers } })
    .then((answer) => answer.json()).catch(() => ({}));
  const about = overview.database ? `${overview.name} ${overview.version} on ${overview.database}` : 'Rowcast';
  summary.textContent = `${about}: ${all.length} ${all.length === 1 ? 'table or view' : 'tables and views'}`;
  if (!at('path').value && all.length) at('path').value = `${all[0].path}?page=1,10`;
  document.body.dataset.ready = 'true';
}

function add(name, attributes) {
  return new Promise((resolve, reject) => {
    const made = element(name, attributes);
    made.addEventListener('load', resolve);
    made.addEventListener('error', () => reject(new Error('it was not answered')));
    document.head.append(made);
  });
}

async function showReference() {
  const button = at('show-reference');
  if (button.disabled || !state.description) return;
  button.disabled = true;
  const version = encodeURIComponent(document.body.dataset.version);
  try {
    await Promise.all([
      add('link', { rel: 'stylesheet', href: `explorer/swagger-ui.css?v=${version}` }),
      add('script', { src: `explorer/swagger-ui-bundle.js?v=${version}` }),
    ]);
  } catch (error) {
    button.disabled = false;
    at('swagger').textContent = `The reference cannot be loaded: ${error.message}`;
    return;
  }
  const server = new URL('.', document.baseURI).href.replace(/\/$/, '');
  window.SwaggerUIBundle({
    spec: { ...state.description, servers: [{ url: server }] },
    domNode: at('swagger'),
    docExpansion: 'none',
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
    requestInterceptor: (request) => {
      Object.assign(request.headers, state.headers);
      return request;
    },
  });
  button.hidden = true;
}

function start() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', paint);
  paint();
  at('request').addEventListener('submit', send);
  at('method').addEventListener('change', showBody);
  at('show-reference').addEventListener('click', showReference);
  at('search').addEventListener('input', () => {
    const wanted = at('search').value.toLowerCase();
    for (const details of document.querySelectorAll('details[data-table]')) {
      details.classList.toggle('hidden', !details.dataset.table.toLowerCase().includes(wanted));
    }
  });
  at('key').addEventListener('submit', (event) => {
    event.preventDefault();
    const [name, value] = [at('key-name').value.trim(), at('key-value').value];
    state.headers = value ? { [name]: value } : {};
    load();
  });
  at('login').addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = JSON.stringify({ username: at('user').value, password: at('password').value });
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(new URL('./login', document.baseURI), { method: 'POST', headers, body });
    const answer = await response.json().catch(() => ({}));
    at('who-status').textContent = response.ok ? 'Logged in.' : answer.message || response.statusText;
    if (response.ok) load();
  });
  load();
}

start();
