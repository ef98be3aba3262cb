// What happens now: the changes of a store, of any process.
import {button, count, el, fill, revision, tell, text, visible} from './dom.js'
import {bulkGet, feed, get, lines, longestSilence, path, repeat, send} from './api.js'
import {parse} from './json.js'
import {differences, leavesOf, pathText, valueText} from './merge.js'
import {historyOf} from './revisions.js'
import {link, returnToPlace} from './router.js'
import {arrivalOf} from './times.js'

const maximumChanges = 200
const firstChanges = 20
/** Of the changes that come at once, so many are compared with what was before. */
const compared = 50
const maximumFields = 4

export async function showChanges({main, store, signal}) {
  const body = el('tbody')
  const note = el('p', {role: 'status'}, 'Waiting for changes…')
  const older = button('Older changes', () => addOlder(compared), {hidden: true})
  fill(main, el('div', {class: 'row'}, el('h1', {}, 'Changes'), note),
    el('div', {class: 'wide stacked', tabindex: '0', role: 'region', 'aria-label': 'Changes'}, el('table', {id: 'changes', 'aria-label': 'Changes, newest first'},
      el('thead', {}, el('tr', {}, ['Document', 'Revision', 'Changed', 'Written'].map(name => el('th', {scope: 'col'}, name)))), body)), older)
  let [since, number, rows, timer, kept] = [null, 0, [], null, maximumChanges]
  const add = change => {
    const row = {change, what: el('td', {class: 'changed'}), when: el('td', {class: 'date'})}
    row.element = el('tr', {'data-change': named(change)}, el('td', {title: visible(change.id)}, el('a', {href: link(store, 'document', {id: change.id})}, text(change.id, 120))), el('td', {}, revision(change.rev)), row.what, row.when)
    rows.push(row)
    timer ??= setTimeout(compareSoon, 200)
    return row.element
  }
  const compareSoon = async () => {
    const seen = rows.filter(({element}) => element.isConnected)
    rows = []
    for (const {what} of seen.slice(0, -compared)) fill(what, el('span', {class: 'soft'}, 'not compared'))
    await compare(store, seen.slice(-compared), signal).catch(tell)
    timer = rows.length && !signal.aborted ? setTimeout(compareSoon, 200) : null
  }
  /** Adds the changes before those that are shown, which are read again with them. */
  const addOlder = async number => {
    const wanted = body.children.length + number
    const {results} = await get(path(store, '_changes') + `?descending=true&limit=${wanted}`, signal)
    const shown = new Set([...body.children].map(row => row.dataset.change))
    body.append(...results.map(({id, changes, deleted}) => ({id, rev: changes[0].rev, deleted})).filter(change => !shown.has(named(change))).map(add))
    kept = Math.max(kept, body.children.length)
    older.hidden = results.length < wanted
    return results[0]?.seq ?? '0'
  }
  await repeat(1000, signal, async answered => {
    if (since === null) {
      // The last ones first, so that there is something to see.
      since = await addOlder(firstChanges)
      returnToPlace()
    }
    const response = await send('GET', path(store, '_changes') + `?${feed}&since=${encodeURIComponent(since)}`, {signal})
    answered()
    for await (const {text} of lines(response, longestSilence)) {
      if (!text) continue
      const change = parse(text)
      if (!change.has('id')) continue
      since = change.get('seq')
      number++
      body.prepend(add({id: change.get('id'), rev: change.get('changes')[0].get('rev'), deleted: change.get('deleted')}))
      while (body.children.length > kept) body.lastChild.remove()
      fill(note, `${count(number, 'change')} since the page was opened.`)
    }
  })
}

/** A key for a revision. */
function named({id, rev}) { return `${rev} ${id}` }

/** Writes into the rows of changes what is different from the revision before. */
async function compare(store, rows, signal) {
  const read = async wanted => new Map((wanted.length ? await bulkGet(store, wanted, signal) : []).map(doc => [named({id: doc.get('_id'), rev: doc.get('_rev')}), doc]))
  const docs = await read(rows.map(({change: {id, rev}}) => ({id, rev})))
  const parentOf = doc => historyOf(doc)[1]
  const parents = await read([...docs.values()].filter(parentOf).map(doc => ({id: doc.get('_id'), rev: parentOf(doc)})))
  for (const {change: {id, rev, deleted}, what, when} of rows) {
    const doc = docs.get(named({id, rev}))
    fill(when, doc && arrivalOf(doc))
    fill(what, deleted ? 'deleted' : rev.startsWith('1-') ? 'new' : doc && changesOf(parents.get(named({id, rev: parentOf(doc)})), doc))
  }
}

/** The fields of a revision that differ from those of the one before. */
function changesOf(parent, doc) {
  if (!parent) return el('span', {class: 'soft'}, 'what was before is not there')
  const [before, after] = [leavesOf(parent), leavesOf(doc)]
  const keys = differences([parent, doc])
  return [keys.slice(0, maximumFields).map(key => el('div', {}, el('b', {}, text(pathText(key), 60)), ' ', valueText(before.get(key)), ' → ', valueText(after.get(key)))),
    keys.length > maximumFields && el('div', {class: 'soft'}, `and ${count(keys.length - maximumFields, 'other field')}`), !keys.length && el('span', {class: 'soft'}, 'no field')]
}
