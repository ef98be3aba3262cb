// The frame of the page: its addresses, its views, and logging in.
//
//     #/                            the stores
//     #/db/contacts/documents       a view of a store; what it shows is in the parameters after ?
import {button, during, el, fill, sayInNewView, tell, text} from './dom.js'
import {onLogin, send} from './api.js'
import {showStores} from './stores.js'
import {showDocuments} from './documents.js'
import {showDocument} from './document.js'
import {showQuery} from './query.js'
import {showGroups} from './groups.js'
import {showIndexes} from './indexes.js'
import {showConflicts} from './conflicts.js'
import {showChanges, showReplications} from './changes.js'

const views = {
  documents: ['Documents', showDocuments],
  query: ['Query', showQuery],
  groups: ['Groups', showGroups],
  indexes: ['Indexes', showIndexes],
  conflicts: ['Conflicts', showConflicts],
  changes: ['Changes', showChanges],
  document: [null, showDocument],
}

let leaving = new AbortController()
/** The address that is shown, so that a view can write its parameters without being shown again. */
let shown = null

/** The address of a view of a store. */
export function link(store, view, parameters = {}) {
  const query = new URLSearchParams(parameters).toString()
  return `#/db/${encodeURIComponent(store)}/${view}${query ? '?' + query : ''}`
}

/** Changes the address to what the view shows now, without showing it again. */
export function remember(address) {
  shown = address
  history.replaceState(null, '', address)
}

async function show() {
  if (location.hash === shown) return
  shown = location.hash
  leaving.abort()
  leaving = new AbortController()
  const {signal} = leaving
  const [place, query = ''] = location.hash.slice(1).split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  let parts
  try {
    parts = place.split('/').slice(1).map(decodeURIComponent)
  } catch {
    parts = ['']
  }
  const [kind, store, view = 'documents'] = parts
  const isStore = kind === 'db' && store && Object.hasOwn(views, view)
  sayInNewView()
  showPlace(isStore ? store : null, view, kind)
  const main = fill(document.getElementById('main'))
  try {
    if (isStore) await views[view][1]({main, store, parameters, signal})
    else if (kind === 'replications') await showReplications({main, signal})
    else await showStores({main, parameters, signal})
  } catch (error) {
    if (signal.aborted) return
    if (!main.hasChildNodes()) {
      fill(main, el('h1', {}, 'That did not work'), el('p', {}, error.message), button('Try again', () => dispatchEvent(new Event('reload'))))
    }
    tell(error)
  }
}

function showPlace(store, view, kind) {
  const place = document.getElementById('place')
  const nav = document.getElementById('views')
  document.title = store ? `${views[view][0] ?? 'Document'} · ${store}` : kind === 'replications' ? 'Replications' : 'Stores'
  const current = {home: !store && kind !== 'replications', replications: kind === 'replications'}
  for (const [id, isCurrent] of Object.entries(current)) {
    document.getElementById(id).toggleAttribute('aria-current', isCurrent)
    if (isCurrent) document.getElementById(id).setAttribute('aria-current', 'page')
  }
  fill(place, store ? text(store) : null)
  nav.hidden = !store
  fill(nav, store && Object.entries(views).filter(([, [title]]) => title).map(([name, [title]]) =>
    el('a', {href: link(store, name), 'aria-current': name === view ? 'page' : null}, title)))
}

// MARK: Logging in

/** One question at a time, whatever number of requests wait for it. */
let asking = null

onLogin(refusal => {
  asking ??= ask(refusal).finally(() => { asking = null })
  return asking
})

async function ask(refusal) {
  // Not `get`, which would ask here.
  const session = await fetch('/_session')
  if (!session.ok) return false
  const {userCtx} = await session.json()
  // Somebody who has a name may not do this, and a server without users has nobody to log in.
  if (userCtx.name || userCtx.roles.includes('_admin')) return false
  const dialog = document.getElementById('login')
  const [name, password] = ['login-name', 'login-password'].map(id => document.getElementById(id))
  for (let reason = refusal.message; ;) {
    document.getElementById('login-reason').textContent = reason
    dialog.returnValue = ''
    dialog.showModal()
    const isSent = await new Promise(resolve => {
      dialog.querySelector('form').onsubmit = () => resolve(true)
      dialog.oncancel = () => resolve(false)
    })
    if (!isSent) return false
    const response = await fetch('/_session', {
      method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({name: name.value, password: password.value}),
    })
    password.value = ''
    if (response.ok) {
      showUser(await (await fetch('/_session')).json())
      return true
    }
    reason = (await response.json()).reason
  }
}

const logout = document.getElementById('logout')

/** Offers to log out to those who have logged in here. */
function showUser({userCtx, info}) {
  logout.hidden = info.authenticated !== 'cookie'
  fill(logout, 'Log out ', text(userCtx.name ?? '', 60))
}

logout.addEventListener('click', () => during(logout, async () => {
  if (!mayLeave()) return
  await send('DELETE', '/_session')
  logout.hidden = true
  dispatchEvent(new Event('reload'))
}))
// Without a session the first request of the view asks.
fetch('/_session').then(async response => { if (response.ok) showUser(await response.json()) }).catch(tell)

document.querySelector('.skip').addEventListener('click', event => {
  // The fragment is the address of a view.
  event.preventDefault()
  document.getElementById('main').focus()
})
/** Whether an editor has text that is not saved. */
function isUnsaved() { return document.querySelector('form[data-unsaved]') !== null }

function mayLeave() { return !isUnsaved() || confirm('Leave without saving your text?') }

addEventListener('beforeunload', event => { if (isUnsaved()) event.preventDefault() })
addEventListener('reload', () => {
  shown = null
  show()
})
addEventListener('hashchange', () => {
  if (location.hash === shown) return
  if (!mayLeave()) return history.pushState(null, '', shown)
  show()
  document.getElementById('main').focus({preventScroll: true})
})
show()
