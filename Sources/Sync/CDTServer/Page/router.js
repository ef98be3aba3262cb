// The addresses of the page, and showing the view of the one that is open. It knows no view: each is registered by its name.
//
//     #/                            the stores
//     #/db/contacts/documents       a view of a store; what it shows is in the parameters after ?
import {button, count, el, fill, sayInNewView, tell, text} from './dom.js'

/** The views of a store by their names, with their titles; one without a title is not in the list of views. */
const views = new Map()
/** The views beside those of a store: `stores` is the one without an address. */
const places = new Map()

let [showReader, follow] = [null, null]
let leaving = new AbortController()
/** The address that is shown, so that a view can write its parameters without being shown again. */
let shown = null

export function registerView(name, title, show) { views.set(name, {title, show}) }

export function registerPlace(name, title, show) { places.set(name, {title, show}) }

/** Shows a view of a store in a part of another one. */
export function showInside(name, options) { return views.get(name).show(options) }

/** The address of a view of a store. */
export function link(store, view, parameters = {}) {
  const query = new URLSearchParams(parameters).toString()
  return `#/db/${encodeURIComponent(store)}/${view}${query ? '?' + query : ''}`
}

/** Changes the address to what the view shows now, without showing it again: as a new one, or in place of the one that is open. */
export function remember(address, isNew = false) {
  if (isNew && address !== shown) history.pushState(null, '', address)
  else history.replaceState(history.state, '', address)
  shown = address
}

/** How far the page and its list were scrolled when the address was left. */
let place = null
let timer

/** Scrolls to where the address was left, when the view has its content. */
export function returnToPlace() {
  if (!place) return
  const {top, inner} = place
  place = null
  const list = document.querySelector('main .grid')
  if (list) list.scrollTop = inner
  scrollTo(0, top)
}

history.scrollRestoration = 'manual'
document.addEventListener('scroll', () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const inner = document.querySelector('main .grid')?.scrollTop ?? 0
    history.replaceState({place: {top: scrollY, inner}}, '')
  }, 200)
}, true)

async function show() {
  if (location.hash === shown) return
  shown = location.hash
  clearTimeout(timer)
  place = history.state?.place ?? null
  leaving.abort()
  leaving = new AbortController()
  const {signal} = leaving
  const [where, query = ''] = location.hash.slice(1).split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  let parts
  try {
    parts = where.split('/').slice(1).map(decodeURIComponent)
  } catch {
    parts = ['']
  }
  const [kind, store, view = 'documents'] = parts
  const isStore = kind === 'db' && store && views.has(view)
  const opened = isStore ? null : places.has(kind) ? kind : 'stores'
  sayInNewView()
  showFrame(isStore ? store : null, view, opened, parameters.get('id'))
  const main = fill(document.getElementById('main'))
  if (!place) scrollTo(0, 0)
  try {
    if (isStore) await views.get(view).show({main, store, parameters, signal})
    else await places.get(opened).show({main, parameters, signal})
  } catch (error) {
    if (signal.aborted) return
    const again = button('Try again', () => dispatchEvent(new Event('reload')))
    if (!main.hasChildNodes()) fill(main, el('h1', {}, 'That did not work'), el('p', {}, error.message), again)
    else {
      // The view waits for nothing any more.
      for (const note of main.querySelectorAll('[role=status]')) fill(note)
      main.append(again)
    }
    tell(error)
  }
}

/** Shows the titles of the page: in the window, in the head, and the views of a store. */
function showFrame(store, view, opened, id) {
  const place = document.getElementById('place')
  const nav = document.getElementById('views')
  const title = store ? views.get(view).title ?? (id || 'Document') : places.get(opened).title
  document.title = store ? `${title} · ${store}` : title
  for (const name of places.keys()) {
    const element = document.getElementById(name)
    element.toggleAttribute('aria-current', name === opened)
    if (name === opened) element.setAttribute('aria-current', 'page')
  }
  // On a phone, the view is in the title, too.
  fill(place, store ? [text(store, 100), el('span', {class: 'soft', 'aria-hidden': 'true'}, ' ▸ ', views.get(view).title ?? 'Document')] : title)
  place.title = store ? `${store} ▸ ${views.get(view).title ?? 'Document'}` : ''
  showReader(store)
  nav.hidden = !store
  fill(nav, store && [...views].filter(([, {title}]) => title).map(([name, {title}]) => el('a', {
    href: link(store, name), 'data-view': name, 'aria-current': name === view ? 'page' : name === 'documents' && view === 'document' ? 'true' : null,
  }, title)))
  follow(store)
  // On a phone, the views scroll.
  nav.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'center'})
}

/** Shows a number beside the name of a view of the store that is open; 0 for none. */
export function badge(view, number, noun) {
  const element = document.querySelector(`#views [data-view=${view}]`)
  if (!element) return
  element.querySelector('.badge')?.remove()
  if (number) element.append(el('span', {class: 'badge', title: count(number, noun)}, number.toLocaleString('en')))
}

/** Whether an editor has text that is not saved. */
function isUnsaved() { return document.querySelector('form[data-unsaved]') !== null }

export function mayLeave() { return !isUnsaved() || confirm('Leave without saving your text?') }

addEventListener('beforeunload', event => { if (isUnsaved()) event.preventDefault() })
addEventListener('reload', () => {
  shown = null
  show()
  if (document.activeElement === document.body) document.getElementById('main').focus({preventScroll: true})
})
addEventListener('hashchange', () => {
  if (location.hash === shown) return
  if (!mayLeave()) return history.pushState(null, '', shown)
  show()
  document.getElementById('main').focus({preventScroll: true})
})

/**
 * Shows the view of the address, when all are registered.
 *
 * @param reader Shows, beside the name of a store, who reads it; it is called with the name, or null.
 * @param follower Shows the stores beside the views; it is called with the name of the one that is open, or null.
 */
export function start(reader, follower) {
  ;[showReader, follow] = [reader, follower]
  show()
}
