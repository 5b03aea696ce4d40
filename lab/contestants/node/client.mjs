// Fetches a page N times, one after the other, to standard output: client URL N reuse|new.
import { readFileSync } from 'node:fs'
import https from 'node:https'

const [url, count, mode] = process.argv.slice(2)
const agent = new https.Agent({
  ca: readFileSync(process.env.CA), keepAlive: mode === 'reuse', maxCachedSessions: mode === 'reuse' ? 100 : 0,
})

const fetchPage = () => new Promise((resolve, reject) => {
  https.get(url, { agent }, (response) => {
    response.on('end', resolve).on('error', reject)
    response.pipe(process.stdout, { end: false })
  }).on('error', reject)
})

for (let number = 0; number < Number(count); number++) {
  await fetchPage()
  process.stdout.write('\n')
}
agent.destroy()
