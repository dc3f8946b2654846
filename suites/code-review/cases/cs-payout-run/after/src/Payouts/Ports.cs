using System;

namespace Payouts
{
    /// <summary>The bank did not accept an order.</summary>
    public sealed class BankException : Exception
    {
        public BankException(string message)
            : base(message)
        {
        }
    }

    public interface IBank
    {
        /// <summary>Orders a transfer and returns the bank's reference.</summary>
        string Transfer(string account, decimal amount);
    }

    public interface ILedger
    {
        void Record(PayoutResult result);
    }
}
