// The survey's invitation. Put it on a page of a site that invites:
//
//   <script src="popup.js" defer data-api="https://survey.example.com" data-survey="https://example.com/survey"></script>
//
// It asks a visitor once: "yes" and "no" are kept, "×" asks again at the next visit, at most three times. Whatever
// fails, it is silent: a survey is never a reason for a page to break.
(() => {
  "use strict";

  const COOKIE = "survey_visitor";
  const YEAR = 365 * 24 * 60 * 60;
  const CLOSES_MAX = 3;
  const PATIENCE_MS = 5000;

  const script = document.currentScript;
  const api = script.dataset.api.replace(/\/$/, "");
  const survey = script.dataset.survey;
  const question = script.dataset.question || "Would you answer a few questions about this site?";

  // Who says that they do not want to be followed is not asked, and gets no cookie.
  if (navigator.doNotTrack === "1" || navigator.globalPrivacyControl) return;

  function knownId() {
    const found = document.cookie.match(new RegExp(`(?:^|; )${COOKIE}=([0-9]{1,19})(?:;|$)`));
    return found ? found[1] : null;
  }

  // 63 random bits: what a signed 64-bit column holds. As text, because numbers of JavaScript end at 53 bits.
  function newId() {
    const bits = crypto.getRandomValues(new BigUint64Array(1))[0];
    return (bits & 0x7fffffffffffffffn).toString();
  }

  function keepId(id) {
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${COOKIE}=${id}; Max-Age=${YEAR}; Path=/; SameSite=Lax${secure}`;
    return knownId() === id;
  }

  function call(method, path, body) {
    return fetch(`${api}/records/visitors${path}`, {
      method,
      body: body && JSON.stringify(body),
      headers: body && { "Content-Type": "application/json" },
      credentials: "omit",
      // What was clicked arrives although the page is left.
      keepalive: method !== "GET",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  }

  async function create(id) {
    const answer = await call("POST", "", { id, site: location.hostname });
    return answer.ok ? { yes: 0, no: 0, closes: 0 } : null;
  }

  // What is known of the visitor; null if they cannot be known, and so must not be asked.
  async function visitor() {
    const known = knownId();
    const id = known || newId();
    if (!known && !keepId(id)) return null;
    if (known) {
      const answer = await call("GET", `/${id}`);
      // The id of the record is a number, and has lost its last digits.
      if (answer.ok) return { ...(await answer.json()), id };
      if (answer.status !== 404) return null;
    }
    const record = await create(id);
    return record && { id, ...record };
  }

  const STYLE = `
    :host { all: initial; }
    section {
      position: fixed; inset: auto 1rem 1rem auto; z-index: 2147483647; box-sizing: border-box;
      max-width: min(22rem, calc(100vw - 2rem)); padding: 1rem 1.25rem; border-radius: .5rem;
      font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
      border: 1px solid #767676; box-shadow: 0 .25rem 1.5rem rgb(0 0 0 / .25);
    }
    p { margin: 0 2rem .75rem 0; }
    a, button {
      display: inline-block; box-sizing: border-box; min-width: 2.75rem; min-height: 2.75rem; padding: .5rem 1.25rem;
      font: inherit; text-decoration: none; border: 1px solid #1d4ed8; border-radius: .25rem; cursor: pointer;
      color: #1d4ed8; background: #fff;
    }
    a { color: #fff; background: #1d4ed8; }
    .close { position: absolute; top: .25rem; right: .25rem; padding: 0; border-color: transparent; color: #1a1a1a; }
    a:focus-visible, button:focus-visible { outline: 3px solid #f59e0b; outline-offset: 2px; }
    @media (prefers-reduced-motion: no-preference) {
      section { animation: rise .3s ease-out; }
      @keyframes rise { from { transform: translateY(1rem); opacity: 0; } }
    }
    @media (prefers-color-scheme: dark) {
      section { color: #f3f4f6; background: #1f2937; }
      button { color: #bfdbfe; background: transparent; border-color: #bfdbfe; }
      .close { color: #f3f4f6; }
    }`;

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // Shows the invitation; calls `answer` with the column that counts what was chosen.
  function show(answer) {
    const host = element("div", { id: "survey-invitation" });
    const shadow = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    shadow.adoptedStyleSheets = [sheet];

    const yes = element("a", { href: survey, target: "_blank", rel: "noopener", textContent: "Yes" });
    const no = element("button", { type: "button", textContent: "No" });
    const close = element("button", { type: "button", className: "close", textContent: "×" });
    close.setAttribute("aria-label", "Close, ask me next time");
    const box = element("section", {}, element("p", { id: "question", textContent: question }), yes, " ", no, close);
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-labelledby", "question");

    const choose = (column) => { host.remove(); answer(column); };
    yes.addEventListener("click", () => choose("yes"));
    no.addEventListener("click", () => choose("no"));
    close.addEventListener("click", () => choose("closes"));
    box.addEventListener("keydown", (event) => { if (event.key === "Escape") choose("closes"); });

    // It does not take the focus from what the visitor is doing; a screen reader is told that it is there.
    const news = element("div", {});
    news.setAttribute("role", "status");
    news.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    shadow.append(news, box);
    document.body.append(host);
    setTimeout(() => { news.textContent = question; }, 100);
    return host;
  }

  async function main() {
    // Two tabs that open at once must not become two visitors.
    const once = navigator.locks
      ? (work) => navigator.locks.request(COOKIE, work)
      : (work) => work();
    const known = await once(visitor);
    if (!known || known.yes > 0 || known.no > 0 || known.closes >= CLOSES_MAX) return;

    const tabs = new BroadcastChannel(COOKIE);
    const host = show((column) => {
      tabs.postMessage(column);
      call("PATCH", `/${known.id}`, { [column]: 1 }).catch(() => {});
    });
    // Answered in another tab: nobody is asked twice.
    tabs.onmessage = () => host.remove();
  }

  main().catch(() => {});
})();
