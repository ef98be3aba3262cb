// What happens now: the changes of a store, of any process, and the replications of the server.
import {count, el, fill, revision, table, text} from './dom.js'
import {feed, get, lines, longestSilence, path, repeat, send} from './api.js'
import {parse} from './json.js'
import {link} from './router.js'

const maximumChanges = 200

export async function showChanges({main, store, signal}) {
  const body = el('tbody')
  const note = el('p', {role: 'status'}, 'Waiting for changes…')
  fill(main, el('h1', {}, 'Changes'), note,
    el('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Changes'}, el('table', {id: 'changes'},
      el('caption', {}, 'Changes, newest first'),
      el('thead', {}, el('tr', {}, ['Time', 'Document', 'Revision', ''].map(name => el('th', {scope: 'col'}, name)))), body)))
  let [since, number] = [null, 0]
  await repeat(1000, signal, async answered => {
    if (since === null) {
      // The last ones first, so that there is something to see.
      const recent = await get(path(store, '_changes') + '?descending=true&limit=20', signal)
      for (const {id, changes, deleted} of recent.results) body.append(row(store, id, changes[0].rev, deleted, ''))
      since = recent.results[0]?.seq ?? '0'
    }
    const response = await send('GET', path(store, '_changes') + `?${feed}&since=${encodeURIComponent(since)}`, {signal})
    answered()
    for await (const {text} of lines(response, longestSilence)) {
      if (!text) continue
      const change = parse(text)
      if (!change.has('id')) continue
      since = change.get('seq')
      number++
      body.prepend(row(store, change.get('id'), change.get('changes')[0].get('rev'), change.get('deleted'), new Date().toLocaleTimeString()))
      while (body.children.length > maximumChanges) body.lastChild.remove()
      fill(note, `${count(number, 'change')} since the page was opened.`)
    }
  })
}

function row(store, id, rev, isDeleted, time) {
  return el('tr', {}, el('td', {}, time), el('td', {}, el('a', {href: link(store, 'document', {id})}, text(id, 120))),
    el('td', {}, revision(rev)), el('td', {}, isDeleted ? 'deleted' : ''))
}

export async function showReplications({main, signal}) {
  const list = el('div', {'aria-live': 'polite'})
  fill(main, el('h1', {}, 'Replications'), list)
  let known
  await repeat(1000, signal, async () => {
    let tasks
    try {
      tasks = await get('/_active_tasks', signal)
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error
      fill(list, el('p', {}, error.message))
      return false
    }
    const rows = tasks.filter(task => task.type === 'replication').map(task => [
      task.source, task.target, task.continuous ? 'continuous' : 'once', `${task.changes_pending ?? 'unknown'}`,
      `${task.docs_written ?? 0}`, task.lag_seconds == null ? 'unknown' : `${Math.round(task.lag_seconds)} s`,
    ])
    const key = JSON.stringify(rows)
    if (key === known) return
    known = key
    fill(list, rows.length
      ? table('Replications that run now', ['Source', 'Target', 'Kind', 'Changes to come#', 'Documents written#', 'Behind by#'],
        rows.map(([source, target, ...others]) => [text(source, 200), text(target, 200), ...others]))
      : el('p', {}, 'The server runs no replication. docs/server.md tells how to start one.'))
  })
}
