import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { StoredAllowanceDto } from '../../files/dto/stored-allowance.dto.js';

@ApiSchema({ name: 'KeyAllowances', description: 'What the key holds of the service, and may hold.' })
export class KeyAllowancesDto {
  @ApiProperty({ description: 'Its files.', type: StoredAllowanceDto })
  stored!: StoredAllowanceDto;
}
