// The contestant in Node: hello, the core over MariaDB, and the file round trip.
import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { readFile, unlink, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import mysql from 'mysql2/promise'

const { PORT, CORES, WORK, DB_HOST, DB_PORT, DB_USER, DB_NAME } = process.env
const LETTERS = 108_000

if (cluster.isPrimary) {
  for (let core = 0; core < Number(CORES); core++) cluster.fork()
} else {
  const server = http.createServer((request, response) => {
    route(request).then(
      ([status, body, type = 'application/json']) => {
        const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) }
        response.writeHead(status, headers).end(body)
      },
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(Number(PORT), '127.0.0.1')
}

const pool = DB_HOST && mysql.createPool({
  host: DB_HOST, port: Number(DB_PORT), user: DB_USER, database: DB_NAME, connectionLimit: 16, charset: 'utf8mb4',
})

async function route(request) {
  const [, first, id] = request.url.split('/')
  if (first === 'hello') return [200, 'Hello, world!', 'text/plain']
  if (first === 'file') return [200, await file(), 'text/plain']
  const table = mysql.escapeId(first.replace(/[^a-zA-Z0-9_]/g, ''))
  switch (request.method) {
    case 'GET': {
      if (id === undefined) return json(await query(`SELECT * FROM ${table}`))
      const [record] = await query(`SELECT * FROM ${table} WHERE id = ?`, [id])
      return record ? json(record) : [404, '']
    }
    case 'POST': return json((await query(`INSERT INTO ${table} SET ?`, [await body(request)])).insertId)
    case 'PUT': return json((await query(`UPDATE ${table} SET ? WHERE id = ?`, [await body(request), id])).affectedRows)
    case 'DELETE': return json((await query(`DELETE FROM ${table} WHERE id = ?`, [id])).affectedRows)
    default: return [405, '']
  }
}

const json = (value) => [200, JSON.stringify(value)]

async function query(statement, values) {
  const [result] = await pool.query(statement, values)
  return result
}

async function body(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const record = JSON.parse(Buffer.concat(chunks))
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name.replace(/[^a-zA-Z0-9_]/g, ''), value]))
}

async function file() {
  const letters = Buffer.allocUnsafe(LETTERS)
  for (let at = 0; at < LETTERS; at++) letters[at] = 65 + Math.floor(Math.random() * 58)
  const path = join(WORK, randomUUID())
  try {
    await writeFile(path, letters)
    return await readFile(path)
  } finally {
    await unlink(path)
  }
}
