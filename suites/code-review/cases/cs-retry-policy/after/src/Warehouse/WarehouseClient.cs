using System;
using System.Globalization;

namespace Warehouse
{
    /// <summary>Asks the warehouse for stock and reserves articles.</summary>
    public sealed class WarehouseClient
    {
        private const string ApiKeySetting = "warehouse.key";

        private readonly ITransport transport;
        private readonly ISettings settings;
        private readonly RetryPolicy retry;

        public WarehouseClient(ITransport transport, ISettings settings, RetryPolicy retry)
        {
            this.transport = transport;
            this.settings = settings;
            this.retry = retry;
        }

        /// <summary>How many pieces of an article there are.</summary>
        public int Stock(string article)
        {
            var path = "/stock/" + Uri.EscapeDataString(article);
            var answer = retry.Run(() => transport.Send("GET", path, settings.Get(ApiKeySetting)));
            return int.Parse(answer, NumberStyles.None, CultureInfo.InvariantCulture);
        }

        /// <summary>Reserves pieces and returns the number of the reservation.</summary>
        public string Reserve(string article, int pieces)
        {
            var path = "/stock/" + Uri.EscapeDataString(article) + "/reserve/" + pieces.ToString(CultureInfo.InvariantCulture);
            // Not repeated: after a time-out the warehouse may have made the reservation.
            return transport.Send("POST", path, settings.Get(ApiKeySetting));
        }
    }
}
