import * as chai from 'chai'
import chaiAsPromised from 'chai-as-promised'
import chaiBites from 'chai-bites'
import chaiParentheses from 'chai-parentheses'
import chaiString from 'chai-string'
import chaiSubset from 'chai-subset'

// the order matters: chai-parentheses wraps what is there when it is applied
chai.use(chaiAsPromised)
chai.use(chaiParentheses)
chai.use(chaiSubset)
chai.use(chaiBites)
chai.use(chaiString)

export const expect = chai.expect
export const assert = chai.assert
export { chai }
