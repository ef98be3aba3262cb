// The stores at the side of every view: those that the user may read, with their documents and conflicts, as they change.
import {count, el, fill, icon, text} from './dom.js'
import {repeat, send, userOf} from './api.js'
import {badge, link} from './router.js'

/** More are found by their names in the list of stores. */
const longest = 500
/** A filter helps from so many stores on, and as the server has to open each of them, those of a directory with many are read seldom. */
const many = 8
const [manyToRead, seldom] = [50, 60_000]

const place = document.getElementById('rail-stores')
const rail = document.getElementById('rail')
const opener = document.getElementById('rail-button')
const filter = el('input', {type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the stores', autocomplete: 'off', spellcheck: 'false', oninput: show, hidden: true})
const list = el('ul', {'aria-label': 'Stores'})
const state = {store: null, infos: [], running: null}

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
  state.infos = []
  const {signal} = state.running
  repeat(5000, signal, () => refresh(signal)).catch(() => {})
}

async function refresh(signal) {
  if (state.infos.length > manyToRead && Date.now() - state.time < seldom) return
  try {
    // The view asks for a name and a password and says that the server does not answer, not this.
    const infos = await (await send('GET', `/_dbs_info?readable=true&conflicts=true&limit=${longest}`, {signal, asks: false})).json()
    Object.assign(state, {infos: infos.filter(row => row.info), time: Date.now()})
    show()
  } catch (error) {
    if (signal.aborted) throw error
    if (error.status !== 401 && error.status !== 403) return
    state.infos = []
    show()
  }
}

function show() {
  const {infos, store} = state
  if (store) badge('conflicts', infos.find(({key}) => key === store)?.info.conflicts ?? 0, 'conflict')
  filter.hidden = infos.length < many
  const wanted = filter.value.trim().toLowerCase()
  const shown = infos.filter(({key}) => key.toLowerCase().includes(wanted))
  const key = JSON.stringify([store, shown, userOf(store)])
  if (list.dataset.key === key) return
  list.dataset.key = key
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
  fill(list, shown.map(({key, info}) => el('li', {}, el('a', {href: link(key, 'documents'), 'aria-current': key === store ? 'true' : null, title: key}, icon('store'), text(key, 100),
    info.conflicts > 0 && el('span', {class: 'badge', title: count(info.conflicts, 'conflict')}, `${info.conflicts}`),
    el('span', {class: 'soft number'}, short(info.doc_count), el('span', {class: 'hidden'}, ' documents'))))), !shown.length && wanted && el('li', {class: 'soft'}, 'No store has this name.'))
  if (focused) [...list.querySelectorAll('a')].find(a => a.getAttribute('href') === focused)?.focus()
}

function short(number) { return number.toLocaleString('en', {notation: 'compact', maximumFractionDigits: 1}) }
