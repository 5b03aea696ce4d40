// The survey's console: who answered what, as it comes in.

const api = "http://127.0.0.1:8080";
const CLOSES_MAX = 3;
const PAUSE_MS = 3000;

const at = (id) => document.getElementById(id);
let authorization = "";

class Refused extends Error {}

async function get(query) {
  const answer = await fetch(`${api}/records/visitors?${query}`, { headers: { Authorization: authorization } });
  if (answer.status === 401 || answer.status === 403) throw new Refused("Name or password is wrong.");
  if (!answer.ok) throw new Error(`The API answered ${answer.status}.`);
  return answer.json();
}

async function count(...filters) {
  const query = filters.map((filter) => `filter=${filter}&`).join("");
  return (await get(`${query}include=id&page=1,1`)).results;
}

async function look() {
  const [all, yes, no, closed, latest] = await Promise.all([
    count(),
    count("answered,nis", "yes,gt,0"),
    count("answered,nis", "yes,eq,0"),
    count("yes,eq,0", "no,eq,0", `closes,ge,${CLOSES_MAX}`),
    get("filter=answered,nis&order=answered,desc&size=15"),
  ]);
  return { counts: { all, yes, no, closed, open: all - yes - no - closed }, latest: latest.records };
}

function showCounts(counts) {
  for (const [name, value] of Object.entries(counts)) at(name).textContent = value.toLocaleString("en");
}

function svg(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

const BARS = [["yes", "Yes"], ["no", "No"], ["closed", "Closed for good"], ["open", "Still to ask"]];

function showChart(counts) {
  const most = Math.max(1, ...BARS.map(([key]) => counts[key]));
  at("chart").replaceChildren(...BARS.flatMap(([key, label], row) => {
    const y = row * 40;
    const width = Math.round((counts[key] / most) * 380);
    const share = counts.all ? ((100 * counts[key]) / counts.all).toFixed(1) : "0.0";
    return [
      svg("text", { x: 0, y: y + 24 }, label),
      svg("rect", { x: 130, y: y + 6, width, height: 26, rx: 3, class: key }),
      svg("text", { x: 138 + width, y: y + 24 }, `${share} %`),
    ];
  }));
}

function showLatest(records) {
  at("latest").replaceChildren(...records.map((record) => {
    const row = document.createElement("tr");
    for (const text of [record.answered, record.site, record.yes > 0 ? "yes" : "no", record.closes]) {
      row.append(Object.assign(document.createElement("td"), { textContent: text }));
    }
    return row;
  }));
}

async function watch() {
  for (;;) {
    try {
      const { counts, latest } = await look();
      at("problem").textContent = "";
      at("login").hidden = true;
      at("board").hidden = false;
      showCounts(counts);
      showChart(counts);
      showLatest(latest);
    } catch (error) {
      at("problem").textContent = error instanceof Refused ? error.message : `${error.message} Trying again.`;
      if (error instanceof Refused) {
        at("board").hidden = true;
        at("login").hidden = false;
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, password } = Object.fromEntries(new FormData(event.target));
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`;
  watch();
});
