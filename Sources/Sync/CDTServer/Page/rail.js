// The stores at the side of every view: those that the user may read, with their documents and conflicts, as they change.
import {count, el, fill, icon, text} from './dom.js'
import {path, repeat, send, userOf} from './api.js'
import {badge, link} from './router.js'

/** More are found by their names in the list of stores. */
const longest = 500
/** A filter helps from so many stores on. */
const many = 8
/** The conflicts of so many stores are counted, again when they have changed, and of the one that is open. */
const counted = 50

const place = document.getElementById('rail-stores')
const rail = document.getElementById('rail')
const opener = document.getElementById('rail-button')
const filter = el('input', {type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the stores', autocomplete: 'off', spellcheck: 'false', oninput: show, hidden: true})
const list = el('ul', {'aria-label': 'Stores'})
const state = {store: null, infos: [], conflicts: new Map(), running: null}

opener.append(icon('menu'))
fill(place, filter, list)
opener.addEventListener('click', () => turn(!document.documentElement.hasAttribute('data-rail')))
rail.addEventListener('click', ({target}) => { if (target.closest('a')) turn(false) })
rail.addEventListener('keydown', event => {
  const links = [...list.querySelectorAll('a')]
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key]
  if (event.key === 'Escape') {
    turn(false)
    opener.focus()
  } else if (event.key === 'Enter' && event.target === filter) links[0]?.click()
  else if (step) {
    event.preventDefault()
    ;(links[links.indexOf(document.activeElement) + step] ?? filter).focus()
  }
})

/** Shows the stores over the view, or hides them, in a window that has no room for both. */
function turn(isOpen) {
  document.documentElement.toggleAttribute('data-rail', isOpen)
  opener.setAttribute('aria-expanded', isOpen)
  if (isOpen) rail.querySelector('a').focus()
}

/** Marks the store that is open, and follows the stores from the first view on. */
export function followStore(store) {
  state.store = store
  delete list.dataset.key
  show()
  if (!state.running) start()
}

/** Begins again: somebody else has logged in. */
export function start() {
  state.running?.abort()
  state.running = new AbortController()
  const {signal} = state.running
  repeat(5000, signal, () => refresh(signal)).catch(() => {})
}

async function refresh(signal) {
  // The view asks for a name and a password and says that the server does not answer, not this.
  const quiet = {signal, asks: false}
  try {
    const infos = await (await send('GET', `/_dbs_info?readable=true&limit=${longest}`, quiet)).json()
    state.infos = infos.filter(row => row.info)
    show()
    const names = new Set([...state.infos.slice(0, counted).map(({key}) => key), ...state.store ? [state.store] : []])
    for (const name of names) await countConflicts(name, quiet)
  } catch (error) {
    if (signal.aborted) throw error
    if (error.status !== 401 && error.status !== 403) return
    state.infos = []
    show()
  }
}

/** Counts the conflicts of a store when it has changed. */
async function countConflicts(store, quiet) {
  const sequence = state.infos.find(row => row.key === store)?.info.update_seq ?? null
  const known = state.conflicts.get(store)
  if (known?.sequence === sequence && sequence) return
  const {total_rows: number} = await (await send('GET', path(store, '_conflicts') + '?limit=0', quiet)).json()
  state.conflicts.set(store, {sequence, number})
  if (number !== (known?.number ?? 0)) show()
}

function show() {
  const {infos, store, conflicts} = state
  if (store) badge('conflicts', conflicts.get(store)?.number ?? 0, 'conflict')
  filter.hidden = infos.length < many
  const wanted = filter.value.trim().toLowerCase()
  const shown = infos.filter(({key}) => key.toLowerCase().includes(wanted))
  const key = JSON.stringify([store, shown, [...conflicts], userOf(store)])
  if (list.dataset.key === key) return
  list.dataset.key = key
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
  fill(list, shown.map(({key, info}) => {
    const number = conflicts.get(key)?.number
    return el('li', {}, el('a', {href: link(key, 'documents'), 'aria-current': key === store ? 'true' : null, title: key}, icon('store'), text(key, 100),
      number > 0 && el('span', {class: 'badge', title: count(number, 'conflict')}, `${number}`),
      el('span', {class: 'soft number'}, short(info.doc_count), el('span', {class: 'hidden'}, ' documents'))))
  }), !shown.length && wanted && el('li', {class: 'soft'}, 'No store has this name.'))
  if (focused) [...list.querySelectorAll('a')].find(a => a.getAttribute('href') === focused)?.focus()
}

function short(number) { return number.toLocaleString('en', {notation: 'compact', maximumFractionDigits: 1}) }
