// The page: its views, and logging in.
import {during, fill, tell, text} from './dom.js'
import {endUsers, onLogin, send} from './api.js'
import {mayLeave, registerPlace, registerView, start} from './router.js'
import {showStores} from './stores.js'
import {showDocuments} from './documents.js'
import {showDocument} from './document.js'
import {showSchema} from './schema.js'
import {showGroups} from './groups.js'
import {showIndexes} from './indexes.js'
import {showConflicts} from './conflicts.js'
import {showChanges} from './changes.js'
import {showReplications} from './replications.js'
import {showReader} from './rules.js'
import {forgetQueries} from './history.js'
import {followStore, start as startRail} from './rail.js'
import './keys.js'
import './menus.js'

registerView('documents', 'Documents', showDocuments)
registerView('schema', 'Schema', showSchema)
registerView('groups', 'Groups', showGroups)
registerView('indexes', 'Indexes', showIndexes)
registerView('conflicts', 'Conflicts', showConflicts)
registerView('changes', 'Changes', showChanges)
registerView('document', null, showDocument)
registerPlace('stores', 'Stores', showStores)
registerPlace('replications', 'Replications', showReplications)

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
  for (let reason = refusal ? `Log in to go on. ${refusal.message}` : ''; ;) {
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
      showReader()
      showAccess()
      startRail()
      return true
    }
    reason = (await response.json()).reason
  }
}

/** Hides what changes something if the server is read-only. */
async function showAccess() {
  const response = await fetch('/')
  if (response.ok) document.documentElement.toggleAttribute('data-read-only', (await response.json()).read_only === true)
}

const logout = document.getElementById('logout')
let isAnonymous = false

/** Offers to log out to those who have logged in here, and to log in to those who have no name. */
function showUser({userCtx, info}) {
  isAnonymous = !userCtx.name && !userCtx.roles.includes('_admin')
  logout.hidden = info.authenticated !== 'cookie' && !isAnonymous
  fill(logout, isAnonymous ? 'Log in' : ['Log out ', text(userCtx.name ?? '', 60)])
}

logout.addEventListener('click', () => during(logout, async () => {
  if (!mayLeave()) return
  if (isAnonymous) return await ask() && dispatchEvent(new Event('reload'))
  await send('DELETE', '/_session')
  endUsers()
  forgetQueries()
  showUser(await (await fetch('/_session')).json())
  startRail()
  dispatchEvent(new Event('reload'))
}))
// Without a session the first request of the view asks.
fetch('/_session').then(async response => { if (response.ok) showUser(await response.json()) }).catch(tell)

document.querySelector('.skip').addEventListener('click', event => {
  // The fragment is the address of a view.
  event.preventDefault()
  document.getElementById('main').focus()
})
showAccess().catch(tell)
start(showReader, followStore)
