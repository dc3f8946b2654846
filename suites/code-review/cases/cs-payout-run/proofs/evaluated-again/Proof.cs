using System;
using System.Collections.Generic;
using Payouts;

internal static class Proof
{
    private sealed class Bank : IBank
    {
        public int Calls;

        public string Transfer(string account, decimal amount)
        {
            Calls++;
            return "ref-" + Calls;
        }
    }

    private sealed class Ledger : ILedger
    {
        public readonly List<PayoutResult> Results = new List<PayoutResult>();

        public void Record(PayoutResult result)
        {
            Results.Add(result);
        }
    }

    private static int Main()
    {
        var bank = new Bank();
        var ledger = new Ledger();
        var summary = new PayoutRun(bank, ledger).Execute(new[] { new Payout("1", "A", 10m), new Payout("2", "B", 5m) });
        if (bank.Calls != 2)
        {
            Console.Error.WriteLine("the bank was called " + bank.Calls + " times for two payouts");
            return 1;
        }
        return summary.Succeeded == 2 && summary.Paid == 15m && ledger.Results.Count == 2 ? 0 : 5;
    }
}
