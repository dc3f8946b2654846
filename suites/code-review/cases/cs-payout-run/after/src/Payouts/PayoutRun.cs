using System.Collections.Generic;
using System.Linq;

namespace Payouts
{
    /// <summary>Pays everything that is due.</summary>
    public sealed class PayoutRun
    {
        private readonly IBank bank;
        private readonly ILedger ledger;

        public PayoutRun(IBank bank, ILedger ledger)
        {
            this.bank = bank;
            this.ledger = ledger;
        }

        public RunSummary Execute(IReadOnlyCollection<Payout> due)
        {
            var results = due.Select(payout => Attempt(payout));
            var succeeded = results.Count(result => result.Succeeded);
            var paid = results.Where(result => result.Succeeded).Sum(result => result.Payout.Amount);
            foreach (var result in results)
            {
                ledger.Record(result);
            }
            return new RunSummary(succeeded, due.Count - succeeded, paid);
        }

        private PayoutResult Attempt(Payout payout)
        {
            try
            {
                return new PayoutResult(payout, bank.Transfer(payout.Account, payout.Amount), null);
            }
            catch (BankException error)
            {
                return new PayoutResult(payout, null, error.Message);
            }
        }
    }
}
