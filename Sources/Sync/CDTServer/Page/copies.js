// A query as Swift, as a command of cdtquery, as a golden file of cdtquery test, and for curl.
import {button, copy, el, fill, icon, say, shellQuoted} from './dom.js'
import {get, path, postForDocuments} from './api.js'
import {line, swift} from './json.js'
import {menuOf} from './menus.js'
import {heading} from './plan.js'
import {termsOf} from './request.js'

/**
 * A menu that copies a query.
 *
 * @param wanted Returns the request.
 * @param place Where what was copied is shown.
 */
export function copyMenu(store, wanted, place, signal) {
  const forms = {
    'Swift': asSwift, 'command': wanted => asCommand(wanted, store, signal), 'golden file': wanted => asGoldenFile(wanted, store, signal),
    'curl': wanted => `curl -X POST ${quoted(location.origin + path(store, '_find'))} -H 'Content-Type: application/json' -d ${quoted(line(wanted))}`,
  }
  return menuOf([icon('copy'), 'Copy'], {}, Object.entries(forms).map(([form, write]) =>
    button(`As ${form === 'command' || form === 'golden file' ? 'a ' : ''}${form}`, async () => {
      const result = await write(wanted())
      const view = el('pre', {class: 'json', tabindex: '0', 'aria-label': `The query as ${form}`}, result)
      fill(place, heading(place, `The query as ${form === 'Swift' || form === 'curl' ? form : `a ${form}`}`), view)
      if (await copy(result)) return say('Copied.')
      // Without TLS, only pages of this machine may write to the clipboard.
      getSelection().selectAllChildren(view)
      say('Selected; copy it with the keyboard.')
    })))
}

function quoted(word) { return /^[\w./:@-]+$/.test(word) ? word : shellQuoted(word) }

function asSwift(wanted) {
  const parts = [swift(wanted.get('selector'))]
  if (wanted.has('skip')) parts.push(`skip: ${wanted.get('skip')}`)
  parts.push(`limit: ${wanted.get('limit')}`)
  if (wanted.has('fields')) parts.push(`fields: ${swift(wanted.get('fields'))}`)
  if (wanted.has('sort')) {
    const terms = termsOf(wanted).map(([name, direction]) => direction === 'desc' ? `.descending(${swift(name)})` : swift(name))
    parts.push(`sort: [${terms.join(', ')}]`)
  }
  if (!wanted.has('collation')) return `let documents = try store.find(${parts.join(', ')})`
  parts.push(`collation: .${wanted.get('collation')}`)
  return `let query = try Query(${parts.join(', ')})\nlet documents = try store.read { try $0.find(query) }`
}

async function asCommand(wanted, store, signal) {
  const {directory} = await get('/', signal)
  const place = directory ? `${directory}/${encodeURIComponent(store)}` : location.origin + path(store)
  const words = ['cdtquery', 'find', place, line(wanted.get('selector'))]
  if (wanted.has('sort')) words.push('--sort', termsOf(wanted).map(([name, direction]) => direction === 'desc' ? `${name}:desc` : name).join(','))
  if (wanted.has('skip')) words.push('--skip', String(wanted.get('skip')))
  words.push('--limit', String(wanted.get('limit')))
  if (wanted.has('fields')) words.push('--fields', wanted.get('fields').join(','))
  if (wanted.has('collation')) words.push('--collation', wanted.get('collation'))
  if (wanted.has('distance')) words.push('--distance')
  return words.map(quoted).join(' ')
}

/** The query with its results as a golden file of cdtquery test. */
async function asGoldenFile(wanted, store, signal) {
  const body = new Map(wanted)
  body.delete('fields')
  const docs = (await postForDocuments(path(store, '_find'), line(body), signal)).get('docs')
  const plain = docs.map(doc => new Map([...doc].filter(([name]) => name === '_id' || !name.startsWith('_'))))
  const ids = docs.map(doc => doc.get('_id')).map(id => /^[\w.-]+$/.test(id) && id !== 'none' ? id : JSON.stringify(id))
  const asked = new Map([['selector', wanted.get('selector')]])
  if (wanted.has('sort')) asked.set('sort', wanted.get('sort'))
  if (wanted.has('collation')) asked.set('collation', wanted.get('collation'))
  return ['== documents', ...plain.map(line), '', `== ${store}`,
    line(asked.size > 1 ? asked : wanted.get('selector')), '----', ids.join(' ') || 'none', ''].join('\n')
}
