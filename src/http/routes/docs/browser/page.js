/**
 * What the documentation page does in a browser: it shows what a key may run, keeps the curl lines up to what the forms
 * say, and sends them. The key is read from its field when it is used and kept nowhere else. Everything that comes from
 * the service is put on the page as text.
 */
(() => {
  /** A longer URL than this is sent as a POST: proxies on the way may take less than the service. */
  const LONGEST_URL = 6000;
  /** More of an answer would make the page slow. */
  const SHOWN_ROWS = 200;
  const SHOWN_TEXT = 200_000;
  /** Characters of a cell that stay in one line: times and ids do. */
  const SHORT_TEXT = 40;

  const content = need(document, '#content');
  const keyField = /** @type {HTMLInputElement} */ (need(document, '#key'));
  const news = need(document, '#news');
  /** @type {WeakMap<HTMLFormElement, AbortController>} */
  const running = new WeakMap();

  document.addEventListener('submit', (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.id === 'key-form') showEndpoints();
    else void send(form);
  });
  document.addEventListener('input', ({ target }) => {
    const form = /** @type {Element} */ (target).closest('form');
    if (form?.dataset.path !== undefined) showCurl(form);
  });
  document.addEventListener('click', ({ target }) => {
    const button = /** @type {Element} */ (target).closest('button.copy');
    if (button !== null) void copy(/** @type {HTMLButtonElement} */ (button));
  });
  showAllCurls();

  /** Fetches the page as the key may see it, as a document that runs nothing, and takes its content over. */
  function showEndpoints() {
    const request = new XMLHttpRequest();
    request.open('GET', '/docs');
    request.responseType = 'document';
    request.setRequestHeader('Accept', 'text/html');
    request.setRequestHeader('X-API-KEY', keyField.value.trim());
    request.addEventListener('error', () => say('The service cannot be reached.', true));
    request.addEventListener('load', () => {
      const fresh = request.status === 200 ? request.responseXML?.querySelector('#content') : null;
      if (fresh === null || fresh === undefined) {
        say(request.status === 401 ? 'This key is not valid.' : `The service answers ${request.status}.`, true);
        return;
      }
      content.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
      showAllCurls();
      const count = content.querySelectorAll('article').length;
      say(`${count} ${count === 1 ? 'endpoint' : 'endpoints'}`, false);
    });
    request.send();
  }

  /** @param {string} text @param {boolean} bad */
  function say(text, bad) {
    news.textContent = text;
    news.className = bad ? 'bad' : 'good';
  }

  /** What a form says: names and values of the parameters that are not empty. @param {HTMLFormElement} form */
  function readForm(form) {
    /** @type {[string, string][]} */
    const parameters = [];
    /** @type {Record<string, string>} */
    const headers = {};
    for (const field of form.querySelectorAll('[data-parameter], [data-header]')) {
      const { type, value, checked, dataset } = /** @type {HTMLInputElement} */ (field);
      const given = type === 'checkbox' ? (checked ? 'true' : '') : value;
      if (given === '') continue;
      const name = dataset.parameter;
      const values = dataset.list === undefined ? [given] : given.split('\n').filter((line) => line !== '');
      if (name !== undefined)
        parameters.push(...values.map((value) => /** @type {[string, string]} */ ([name, value])));
      else if (dataset.header !== undefined) headers[dataset.header] = given;
    }
    return { path: form.dataset.path ?? '', parameters, headers };
  }

  function showAllCurls() {
    for (const form of content.querySelectorAll('form')) showCurl(form);
  }

  /** @param {HTMLFormElement} form */
  function showCurl(form) {
    const { path, parameters, headers } = readForm(form);
    const lines = [
      `curl --get -H "X-API-KEY: $KEY" ${quoted(location.origin + path)}`,
      ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...parameters.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ];
    const example = form.closest('article')?.querySelector('.curl');
    if (example) example.textContent = lines.join(' \\\n  ');
  }

  /** As one word of a shell. @param {string} text */
  function quoted(text) {
    return `'${text.replaceAll("'", "'\\''")}'`;
  }

  /** @param {HTMLButtonElement} button */
  async function copy(button) {
    const example = need(button.parentElement ?? document, '.curl');
    try {
      await navigator.clipboard.writeText(example.textContent ?? '');
      button.textContent = 'Copied';
    } catch {
      // Without a secure origin there is no clipboard: what is selected can be copied by hand.
      getSelection()?.selectAllChildren(example);
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  }

  /** @param {HTMLFormElement} form */
  async function send(form) {
    running.get(form)?.abort();
    const abort = new AbortController();
    running.set(form, abort);
    const { path, parameters, headers } = readForm(form);
    const url = `${path}?${new URLSearchParams(parameters)}`;
    const key = keyField.value.trim();
    const answer = need(form, '.answer');
    answer.replaceChildren(element('p', 'Running …'));
    const start = performance.now();
    try {
      const all = { ...headers, ...(key === '' ? {} : { 'X-API-KEY': key }) };
      const response = await (url.length > LONGEST_URL
        ? fetch(path, {
            method: 'POST',
            headers: all,
            body: new URLSearchParams(parameters),
            signal: abort.signal,
          })
        : fetch(url, { headers: all, signal: abort.signal }));
      const text = await response.text();
      answer.replaceChildren(...shown(response, text, performance.now() - start));
    } catch (error) {
      if (abort.signal.aborted) return;
      answer.replaceChildren(element('p', `No answer: ${String(error)}`, 'bad'));
    }
  }

  /** @param {Response} response @param {string} text @param {number} took @returns {Node[]} */
  function shown(response, text, took) {
    // An error may come with 200, as from Logflare (QUERY_ERRORS).
    const code = Number(response.headers.get('x-error-status') ?? response.status);
    const status = element('p', `${code}, ${took.toFixed(0)} ms`, `status ${code < 400 ? 'good' : 'bad'}`);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const value = isJson ? readJson(text) : null;
    const rows = Array.isArray(value?.result) ? value.result : null;
    const raw = element('pre', text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text);
    raw.tabIndex = 0;
    return [
      status,
      ...(rows === null ? [] : rowsShown(rows, response.headers.get('x-result-truncated') === 'true')),
      ...(value?.error === undefined
        ? []
        : errorShown(typeof value.error === 'string' ? { message: value.error } : value.error)),
      details('Headers', element('pre', [...response.headers].map(([name, one]) => `${name}: ${one}`).join('\n'))),
      details('Raw', raw, rows === null && value?.error === undefined),
    ];
  }

  /**
   * JSON in which whole numbers keep their digits where the browser can tell them.
   *
   * @param {string} text
   */
  function readJson(text) {
    const json = /** @type {{ rawJSON?: (text: string) => unknown }} */ (/** @type {unknown} */ (JSON));
    const revive = /** @type {(key: string, value: unknown, context?: { source?: string }) => unknown} */ (
      (_key, value, context) => {
        const source = context?.source;
        const rounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
        return rounded && source !== undefined && json.rawJSON !== undefined ? json.rawJSON(source) : value;
      }
    );
    try {
      return JSON.parse(text, revive);
    } catch {
      return null;
    }
  }

  /** @param {Record<string, unknown>[]} rows @param {boolean} truncated */
  function rowsShown(rows, truncated) {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const some = rows.slice(0, SHOWN_ROWS);
    const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`;
    const part = some.length < rows.length ? `, the first ${SHOWN_ROWS} of them shown` : '';
    const note = `${count}${part}${truncated ? ', cut at the maximum of the endpoint' : ''}`;
    if (rows.length === 0) return [element('p', note)];
    const table = document.createElement('table');
    table.createCaption().textContent = note;
    const head = table.createTHead().insertRow();
    for (const column of columns) {
      const cell = element('th', column);
      cell.setAttribute('scope', 'col');
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of some) {
      const line = body.insertRow();
      for (const column of columns) {
        const cell = line.insertCell();
        cell.textContent = cellText(row[column]);
        if (cell.textContent.length <= SHORT_TEXT) cell.className = 'short';
      }
    }
    return [scrolling(table, 'Rows')];
  }

  /** @param {unknown} value */
  function cellText(value) {
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  /** @param {{ message?: string, errors?: Record<string, unknown>[] }} error */
  function errorShown({ message, errors }) {
    const list = document.createElement('dl');
    for (const [name, value] of Object.entries(errors?.[0] ?? {})) {
      if (name === 'domain' || name === 'message') continue;
      list.append(element('dt', name), element('dd', Array.isArray(value) ? value.join(', ') : String(value)));
    }
    return [element('p', message ?? '', 'bad'), list];
  }

  /** @param {HTMLElement} inner @param {string} name */
  function scrolling(inner, name) {
    const box = element('div', '', 'scroll');
    box.tabIndex = 0;
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', name);
    box.append(inner);
    return box;
  }

  /** @param {string} title @param {HTMLElement} inner @param {boolean} [open] */
  function details(title, inner, open = false) {
    const box = document.createElement('details');
    box.open = open;
    box.append(element('summary', title), inner);
    return box;
  }

  /** @param {string} name @param {string} text @param {string} [className] */
  function element(name, text, className = '') {
    const created = document.createElement(name);
    created.textContent = text;
    if (className !== '') created.className = className;
    return created;
  }

  /** @param {ParentNode} place @param {string} selector @returns {HTMLElement} */
  function need(place, selector) {
    const found = place.querySelector(selector);
    if (found === null) throw new Error(`The page has no ${selector}.`);
    return /** @type {HTMLElement} */ (found);
  }
})();
