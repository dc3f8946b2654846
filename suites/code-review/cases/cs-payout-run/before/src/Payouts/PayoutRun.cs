using System.Collections.Generic;

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

        public void Execute(IReadOnlyCollection<Payout> due)
        {
            foreach (var payout in due)
            {
                ledger.Record(Attempt(payout));
            }
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
