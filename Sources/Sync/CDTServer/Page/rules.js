// The rules of a store, for its admins: those that a document breaks, and the store as another user sees it.
import {answered, button, el, fill, labeled, sayNext, text, visible} from './dom.js'
import {called, failureText, path, send, setUser, userOf} from './api.js'
import {link, mayLeave} from './router.js'

/** The rules of a store and how a document breaks them; null if the user is not an admin of the store. */
async function rulesOf(store, id, signal) {
  try {
    // Somebody who may read without a name is not asked for one.
    const response = await send('GET', path(store, '_rules') + `?id=${encodeURIComponent(id)}`, {signal, asks: false})
    return await response.json()
  } catch (error) {
    if ([401, 403, 404].includes(error.status)) return null
    if (error.status === 400) return {rules: [], rows: [{failures: [], reason: error.message, note: ["They can't be read."]}]}
    throw error
  }
}

const kinds = {read: 'reading', validate_doc_update: 'writing'}

/** The design documents with rules, and the failures of a document that could not be saved again; null if there is nothing to show. */
export async function showRules(store, id, signal) {
  const {rules, rows: [broken]} = await rulesOf(store, id, signal) ?? {rules: [], rows: []}
  if (!rules.length && !broken) return null
  const user = userOf(store)
  const note = broken?.note ?? [user ? text(called(user), 80) : 'You', ' could not save this document as it is.']
  const lines = broken?.failures.length ? broken.failures.map(failureText) : broken ? [broken.reason] : []
  return el('details', {id: 'rules'},
    el('summary', {}, el('h2', {}, 'Rules'), broken && el('span', {class: 'problem'}, ' ', note)),
    broken && el('p', {class: 'problem'}, lines.map(line => visible(line, 1_000)).join('\n')),
    el('ul', {class: 'documents'}, rules.map(({name, rules}) => el('li', {},
      el('a', {href: link(store, 'document', {id: `_design/${name}`})}, text(`_design/${name}`, 120)),
      `: ${Object.keys(kinds).filter(kind => kind in rules).map(kind => kinds[kind]).join(' and ')}`))))
}

// MARK: As another user

const place = document.getElementById('reader')
let shown = null

/** Shows as which other user a store is read and written, or offers that to its admins if it has rules. */
export async function showReader(store = shown) {
  const user = store && userOf(store)
  place.classList.toggle('notice', Boolean(user))
  if (user || store !== shown || place.querySelector('span')) fill(place)
  shown = store
  if (user) {
    // An admin who reads as another user is offered what that user may do.
    const isAdmin = user.roles.split(',').some(role => role.trim() === '_admin')
    document.documentElement.toggleAttribute('data-member', !isAdmin)
    return fill(place, el('span', {}, 'as ', text(called(user), 80)), button('End', () => change(store, null), {'aria-label': `End as ${visible(called(user), 80)}`}))
  }
  const found = store && await rulesOf(store, '').catch(() => undefined)
  // Another store may be shown by now.
  if (store !== shown || userOf(store)) return
  // What only admins of a store may do is not offered to others.
  document.documentElement.toggleAttribute('data-member', Boolean(store) && found === null)
  fill(place, found?.rules.length > 0 && button('As user…', () => choose(store)))
}

async function choose(store) {
  const field = attributes => el('input', {spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', ...attributes})
  const [name, roles] = [field({autofocus: true}), field({})]
  const isChosen = await answered('See the store as another user', 'Continue',
    labeled('Name (empty for an anonymous user)', name), labeled("Roles, separated by commas (empty for the user's own)", roles))
  if (isChosen) change(store, {name: name.value.trim(), roles: roles.value.trim()})
}

function change(store, user) {
  if (!mayLeave()) return
  setUser(store, user)
  sayNext(user ? `The store is read and written as ${visible(called(user), 80)}.` : '')
  dispatchEvent(new Event('reload'))
  document.getElementById('main').focus({preventScroll: true})
}
