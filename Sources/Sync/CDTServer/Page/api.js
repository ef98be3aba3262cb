// The server's HTTP API, as docs/server.md describes it.
import {say} from './dom.js'
import {parse} from './json.js'

/** A refusal of the server, with the failures of a rule if it refuses a write. */
export class Refusal extends Error {
  constructor(status, error, reason, failures = []) {
    super(reason)
    Object.assign(this, {status, error, failures})
  }
}

/** The line of a failure: its place and the message, or the text of the rule's author alone. */
export function failureText({path, type, message}) {
  return type === 'reason' || !path.length ? message : `${path.join('.')}: ${message}`
}

/** The path of a resource: each name is one part. */
export function path(...names) {
  return '/' + names.map(encodeURIComponent).join('/')
}

// MARK: As another user

/** The users as whom stores are read and written, by the names of the stores, until the tab is closed or somebody logs out. */
const users = new Map(savedUsers())

/** None if the browser has no storage for the page; then a user is kept until the page is loaded again. */
function savedUsers() {
  try { return JSON.parse(sessionStorage.getItem('users')) ?? [] } catch { return [] }
}

function saveUsers() {
  try { sessionStorage.setItem('users', JSON.stringify([...users])) } catch {}
}

/** The user as whom a store is read and written: texts with the name and the roles. Undefined if it is the one who has logged in. */
export function userOf(store) { return users.get(store) }

/** The name of a user on the page, with the roles that were given. */
export function called({name, roles}) { return (name || 'anonymous') + (roles && ` (${roles})`) }

export function setUser(store, user) {
  if (user) users.set(store, user)
  else users.delete(store)
  saveUsers()
}

export function endUsers() {
  users.clear()
  saveUsers()
}

/** The headers that send a request as the user of its store. */
export function userHeaders(address) {
  const user = users.get(decodeURIComponent(address.split(/[/?]/)[1]))
  // What is in a header is bytes.
  const utf8 = text => String.fromCharCode(...new TextEncoder().encode(text))
  return user ? {'X-As-User': utf8(user.name), ...user.roles && {'X-As-Roles': utf8(user.roles)}} : {}
}

// MARK: Requests

let login = null

/** Sets what asks for a name and a password; it returns whether somebody has logged in. */
export function onLogin(ask) { login = ask }

/** Sends a request, and logs in first if the server wants that and the request may ask for it. */
export async function send(method, address, {body, signal, headers, asks = true} = {}) {
  const options = {method, signal, headers: {...userHeaders(address), ...headers}, cache: 'no-store'}
  if (body !== undefined) {
    options.headers['Content-Type'] ??= 'application/json'
    options.body = typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body)
  }
  for (;;) {
    const response = await fetch(address, options).catch(unreachable)
    if (response.ok) return response
    const refusal = await refused(response)
    if (response.status !== 401 || !asks || !login || !await login(refusal)) throw refusal
  }
}

/** Throws in place of an error of the network. */
function unreachable(error) {
  throw error.name === 'AbortError' ? error : new Refusal(0, 'unreachable', 'The server does not answer; is it still running?')
}

/** The body of a reply, of which the connection may end. */
function bodyOf(response) { return response.text().catch(unreachable) }

async function refused(response) {
  const text = await bodyOf(response)
  try {
    const {error, reason, failures} = JSON.parse(text)
    return new Refusal(response.status, error, reason ?? error, failures)
  } catch {
    return new Refusal(response.status, 'unreadable', text.slice(0, 300) || `The server answered ${response.status}.`)
  }
}

/** Gets a reply with values of documents, whose objects are maps. */
export async function getValues(address, signal) { return parse(await bodyOf(await send('GET', address, {signal}))) }

/** Gets a reply without documents. */
export async function get(address, signal) { return JSON.parse(await bodyOf(await send('GET', address, {signal}))) }

export async function post(address, body, signal) { return JSON.parse(await bodyOf(await send('POST', address, {body, signal}))) }

/** The same with documents, whose objects are maps. */
export async function postForDocuments(address, body, signal) {
  return parse(await bodyOf(await send('POST', address, {body, signal})))
}

/** A line that is longer is not kept. */
const longestLine = 1 << 20

/**
 * The parameters of a feed, which sends a line every 20 seconds unless it runs its query again, and the silence after which its
 * connection is lost.
 */
export const feed = 'feed=continuous&heartbeat=20000'
export const longestSilence = 120_000

/**
 * The lines of a reply as they come. Of a very long one the beginning is given, with its length.
 *
 * @param silence The milliseconds after which a reply that says nothing is given up; `null` if it may take any time.
 */
export async function* lines(response, silence = null) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const read = () => {
    if (!silence) return reader.read()
    let timer
    const end = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('silence')), silence) })
    return Promise.race([reader.read(), end]).finally(() => clearTimeout(timer))
  }
  let [rest, length] = ['', 0]
  try {
    for (;;) {
      const {done, value} = await read().catch(unreachable)
      const parts = (value ?? '').split('\n')
      for (const [number, part] of parts.entries()) {
        if (number > 0) {
          yield {text: rest, isWhole: length <= longestLine, length}
          ;[rest, length] = ['', 0]
        }
        length += part.length
        if (length <= longestLine) rest += part
        else rest = rest.slice(0, 4096) || part.slice(0, 4096)
      }
      if (!done) continue
      if (rest) yield {text: rest, isWhole: length <= longestLine, length}
      return
    }
  } finally {
    // A reader that stops early closes the connection.
    reader.cancel().catch(() => {})
  }
}

/** A document that is too long to be kept: its id and its length alone. */
export function long(text, length) {
  const id = /"_?id":("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return {id: id ? JSON.parse(id) : '', length}
}

/** Some revisions of documents, those that are stored, with their histories; each has an `arrival` if it is known. */
export async function bulkGet(store, docs, signal) {
  const reply = await postForDocuments(path(store, '_bulk_get') + '?revs=true&arrivals=true', {docs}, signal)
  return reply.get('results').flatMap(result => result.get('docs').filter(doc => doc.has('ok'))
    .map(doc => Object.assign(doc.get('ok'), {arrival: doc.get('arrival')})))
}

/** The revisions of a document: the leaves, or those that are named. Any id can be read so, also one that no path can name. */
export function revisions(store, id, revs = null, signal = undefined) {
  return bulkGet(store, revs ? revs.map(rev => ({id, rev})) : [{id}], signal)
}

/** The winner of a document, as its reader sees it; null if there is none. */
export async function winner(store, id, signal) {
  const [row] = (await post(path(store, '_all_docs'), {keys: [id]}, signal)).rows
  if (row.error || row.value.deleted) return null
  return (await revisions(store, id, [row.value.rev], signal))[0] ?? null
}

/** Saves revisions of documents, given as texts of JSON; throws the first refusal. */
export async function save(store, ...texts) {
  const rows = await post(path(store, '_bulk_docs'), `{"docs":[${texts.join(',')}]}`)
  const failed = rows.find(row => row.error)
  if (failed) throw new Refusal(failed.error === 'conflict' ? 409 : 400, failed.error, failed.reason, failed.failures)
  return rows
}

/** Handles a failed write: if somebody else was faster, the error says so in the words of a view. */
export function inConflict(message) {
  return error => { throw error.status === 409 ? new Error(message) : error }
}

/** Waits for some milliseconds, or until the signal. */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(new DOMException('', 'AbortError'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, {once: true})
  })
}

/** The pauses grow up to this one while the server does not answer, or its feeds end within this time. */
const longestPause = 30_000
const shortestFeed = 10_000

/**
 * Calls a function now and again, while the page is seen, until the signal or until it returns false.
 *
 * While the server does not answer, or fails, it continues; that is reported once. A function that follows a feed, which ends only with its
 * connection, calls its argument when the server has answered.
 */
export async function repeat(milliseconds, signal, action) {
  let [wait, isFailing, since] = [milliseconds, false, null]
  const answered = () => {
    if (isFailing) say('The server answers again.')
    isFailing = false
    since ??= performance.now()
  }
  for (; !signal.aborted; await pause(wait, signal)) {
    if (document.hidden) continue
    since = null
    try {
      if (await action(answered) === false) return
      answered()
      wait = milliseconds
    } catch (error) {
      if (!(error instanceof Refusal) || error.status && error.status < 500) throw error
      if (!isFailing) say(`${error.message} Trying again…`, true)
      isFailing = true
      if (since !== null && performance.now() - since > shortestFeed) wait = milliseconds
      wait = Math.min(longestPause, 2 * wait)
    }
  }
}
